"""The sizes of a model beside SmolLM2's: stated here without its file, and compared with it; and
what the pages say of Nano, that it differs from SmolLM2 in its sizes alone.
"""

from dataclasses import fields

import pytest

from core import open_model
from core.analyse.sizes import SMOLLM2, is_nano, side_by_side
from core.files import registry
from core.record.catalogue import catalogue_of

SMALL = "n_layers width n_heads n_kv_heads head_dim neurons vocab context score_scale".split()


@pytest.fixture(scope="module")
def nano():
    return open_model("nano")


def test_the_stated_sizes_are_those_of_the_file(smollm):
    assert smollm.config == SMOLLM2
    assert all(stated == read for _, stated, read in side_by_side(smollm))


def test_the_sizes_of_nano_stand_beside_those_of_smollm2(nano):
    rows = {name: (large, own) for name, large, own in side_by_side(nano)}
    vocab, width = nano.weights.embed.shape
    assert rows["n_weights"] == (134_515_008, nano.weights.n_parameters)
    assert rows["n_layers"] == (30, len(nano.weights.layers))
    assert (rows["vocab"], rows["width"]) == ((49_152, vocab), (576, width))
    assert all(own < large for name, (large, own) in rows.items() if name != "n_ops")


def test_nano_and_its_checkpoints_are_nano_and_no_other_model_is(nano, tiny):
    step = min(registry.NANO.folder.glob("step-*.safetensors"))
    assert is_nano(nano) and is_nano(open_model(str(step))) and not is_nano(tiny)


def test_nano_has_the_ops_of_smollm2_in_their_order_with_their_formulas_and_code(nano):
    ours, large = catalogue_of(nano.config), catalogue_of(SMOLLM2)
    assert list(ours.before.values()) == list(large.before.values())
    assert list(ours.after.values()) == list(large.after.values())
    for block in ours.blocks:
        assert list(block.values()) == list(large.blocks[0].values())
    assert nano.config.group > 1 and nano.weights.tied  # grouped queries and a tied output, too


def test_nano_differs_from_smollm2_in_sizes_alone(nano):
    def differing(one, other):
        names = (field.name for field in fields(one))
        return {name for name in names if getattr(one, name) != getattr(other, name)}

    assert differing(nano.config, SMOLLM2) <= {*SMALL, "ropes", "windows"}
    ropes = differing(nano.config.ropes[0], SMOLLM2.ropes[0])  # with as many layers as there are
    assert ropes <= {"dim", "theta"} and set(nano.config.windows) == {None}


def test_smollm2_has_one_table_for_input_and_output(smollm):
    assert smollm.weights.tied
