"""A long prompt is read in parts: between them others have their turn, and its first token says how
long all of them took.
"""

import itertools
from dataclasses import replace
from types import SimpleNamespace

from core import RunSpec
from core.decode import background, generate
from tests import tiny


def spec_of(path, n=200):
    """A prompt of n ids: three whole blocks of 64 and a rest."""
    return RunSpec(path, ids=tuple(i * i % 40 for i in range(n)), temperature=1.0, seed=3)


def test_each_turn_reads_a_block_and_the_last_one_writes(tmp_path):
    path = tiny.build(tmp_path / "tiny.gguf")
    text, turns = background.find(spec_of(path)), 0
    while not text.tokens:
        assert text.error is None and not text.ended
        text.write()
        turns += 1
    assert turns == 4
    text.write()
    wanted = list(generate.generate(replace(spec_of(path), max_new_tokens=2)))
    assert [token.id for token in text.tokens] == [event.id for event in wanted]
    assert text.tokens[0].event.n_reused == 0 and wanted[0].n_reused == 192


def test_the_first_token_took_what_all_parts_took_and_not_what_lay_between(tmp_path, monkeypatch):
    path = tiny.build(tmp_path / "tiny.gguf")
    clock = SimpleNamespace(perf_counter=itertools.count().__next__)  # each look, a second later
    monkeypatch.setattr(generate, "time", clock)
    found = list(generate.passes(replace(spec_of(path), max_new_tokens=2)))
    assert found[:3] == [None] * 3 and [event.seconds for event in found[3:]] == [4, 1]


def test_a_short_prompt_is_read_at_once(tmp_path):
    path = tiny.build(tmp_path / "tiny.gguf")
    (event,) = generate.passes(replace(spec_of(path, 64), max_new_tokens=1))
    assert event.step == 0 and event.n_cached == 64
