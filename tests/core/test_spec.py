"""Settings of a run that are refused, each in one sentence that names it."""

import pytest

from core import RunSpec, SettingError


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True])
@pytest.mark.parametrize("name", ["temperature", "presence_penalty", "typical_p"])
def test_numbers_that_are_none(name, value):
    with pytest.raises(SettingError) as caught:
        RunSpec("m", prompt="x", **{name: value})
    assert caught.value.code == "bad_setting" and name in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [
        {"temperature": -1},
        {"top_k": -1},
        {"top_k": 1.5},
        {"top_p": 1.1},
        {"top_p": -0.1},
        {"min_p": 2},
        {"typical_p": 0},
        {"typical_p": 1.1},
        {"repetition_penalty": 0},
        {"repetition_penalty": -1},
        {"presence_penalty": 1e300},
        {"frequency_penalty": -1e300},
        {"order": "vllm"},
        {"order": ["transformers"]},
        {"order": None},
        {"max_new_tokens": 0},
        {"seed": -1},
        {"seed": 0.5},
        {"first_step": -1},
    ],
)
def test_settings_outside_their_bounds(setting):
    with pytest.raises(SettingError) as caught:
        RunSpec("m", prompt="x", **setting)
    assert caught.value.params["name"] == next(iter(setting))
