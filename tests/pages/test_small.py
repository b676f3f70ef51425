"""What the pages say of Nano beside SmolLM2, on Nano and its checkpoints and on no other model; and
that their questions have an answer there.
"""

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.files import registry
from tests.pages import reader

PROMPT = "In Mor, the capital is"
ASKING = {"block": "attn.weights", "output": "probs", "tokens": ""}  # the op that the link names
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)


def small(language, name):
    return lessons.page(language, name).small


@EACH_LANGUAGE
@EACH_PAGE
def test_a_page_says_once_what_is_the_same_in_nano_and_what_is_only_small(name, language):
    app = reader.open_page(name, lang=language, model="nano")
    assert not app.exception and not reader.missing(app, small(language, name))
    (first, *_) = reader.pieces(small(language, name))
    assert reader.text(app).count(first) == 1


@pytest.mark.parametrize("op", ["resid_pre", "attn.scores", "mlp.out"])
def test_it_stands_below_every_step_of_the_block(op):
    app = reader.open_page("block", model="nano", op=op)
    assert not reader.missing(app, small("en", "block"))


def test_a_checkpoint_is_nano_too(monkeypatch):
    step = min(registry.NANO.folder.glob("step-*.safetensors"))
    monkeypatch.setenv("TOKENWALK_MODELS", str(step))
    app = reader.open_page("tokens", model=step.stem)
    assert app.session_state["model"] == step.stem
    assert not reader.missing(app, small("en", "tokens"))


@EACH_PAGE
def test_another_model_says_nothing_of_it(name, tiny_name, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", tiny_name)
    app = reader.open_page(name, model="tiny")
    assert app.session_state["model"] == "tiny" and not app.exception
    own = [part for part in reader.pieces(small("en", name)) if len(part) > 12]
    assert own and not [part for part in own if part in reader.text(app)]
    assert lessons.text("en", "nano.table") not in reader.text(app)


@EACH_LANGUAGE
def test_the_sizes_stand_side_by_side_on_the_first_page(language):
    app = reader.open_page("start", lang=language, model="nano")
    (table,) = [part for part in reader.html(app) if "134,515,008" in part]
    assert f"<td>{lessons.text(language, 'nano.n_layers')}</td><td>30</td>" in table
    assert f"<td>{lessons.text(language, 'nano.n_ops')}</td><td>20</td><td>20</td>" in table


@EACH_LANGUAGE
@pytest.mark.parametrize("name", ["tokens", "block", "output"])
def test_a_question_is_answered_from_the_run(name, language):
    app = reader.open_page(name, lang=language, model="nano", prompt=PROMPT, op=ASKING[name])
    app.session_state["reveal"] = True
    app.run()
    assert not app.exception
    answer = lessons.fill(lessons.page(language, name).reveal, **expected())
    assert all(part in reader.text(app) for part in answer.split("\n\n"))


def expected():
    """What the answers name, computed here from the run's own weights and scores."""
    trace = run(RunSpec(model="nano", prompt=PROMPT))
    layers = range(trace.config.n_layers)
    first = np.stack([trace.read("attn.weights", layer=n)[:, -1, 0] for n in layers])
    powers = np.exp(trace.logits() - trace.logits().max())
    p = np.sort(powers / powers.sum())[::-1]
    return {
        "n_characters": len(PROMPT),
        "n_bytes": len(PROMPT),
        "n_tokens": len(trace.ids),
        "first_token": "<s>",
        "last_token": "␣is",
        # Nano gives a first word the space that it lacks
        **dict.fromkeys(("piece", "piece_tokens", "other_tokens"), "␣is"),
        **dict.fromkeys(("piece_ids", "other_ids"), str(trace.ids[-1])),
        "other": "is",
        "n_sink_heads": (first > 0.5).sum(),
        "n_all_heads": first.size,
        "sink_share": f"{first.mean():.1%}",
        "n_for_90": (p.cumsum() < 0.9).sum() + 1,
        "vocab": len(p),
        "top_token": trace.model.tokenizer.display(int(powers.argmax())),
        "top_p": f"{p[0]:.1%}",
        "min_p": f"{p[-1]:.1e}",
    }
