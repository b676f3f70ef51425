"""What is said of Nano's prompts (lessons/presets.toml), as claims that can be measured, and the
heads for which they hold: `python tools/nano_claims.py [--write]`, after Nano was trained again.

--write puts the head for which a claim holds best into presets.toml. Knows the prompts and core's
runs; the sentences stand in lessons/<language>/ui.toml, the test in
tests/nano/test_preset_claims.py.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import lessons  # noqa: E402
from core import RunSpec, open_model, run  # noqa: E402
from core.model.tap import Edit  # noqa: E402

HALF = 0.5


TABLE = ROOT / "lessons" / "presets.toml"


@dataclass(frozen=True)
class Claim:
    """guess: the most probable token, where one is named. at: positions to which the head gives
    more than a share of the last token's attention together. needed: without the head the guess
    loses more than half of its probability. first: the first layer whose heads are meant. like:
    another prompt, whose head it is as well.
    """

    guess: str | None = None
    at: tuple[int, ...] = ()
    needed: bool = False
    share: float = HALF
    first: int = 0
    like: str | None = None


CLAIMS = {
    "fact": Claim("␣Paris", (4,), needed=True),  # France
    "names": Claim("␣Tom", (4,), needed=True),  # Tom
    "repeat": Claim("␣park", (5,)),  # park
    "answer": Claim("␣gray", (4,)),  # Sam
    "digits": Claim("5", (11,)),  # 4
    "copy": Claim("1", (12,), needed=True, first=1),  # the s of the second says
    "number": Claim(at=(3,), share=0.4),  # the s of cats
    "pieces": Claim("␣Lima", (4,)),  # u, the last piece of Peru
    "unknown": Claim(at=(7,)),  # the last letter of zebra
    "space": Claim(like="fact"),
}


def preset(id: str) -> lessons.Preset:
    """The prompt of a claim, with the layer and head that it names."""
    return next(preset for preset in lessons.presets("nano") if preset.id == id)


def trace_of(prompt: str, *edits: Edit):
    """A run of a prompt on Nano."""
    return run(RunSpec("nano", prompt=prompt, edits=edits))


def guess(trace) -> str:
    """The most probable next token, as it is shown."""
    return trace.model.tokenizer.display(int(trace.logits().argmax()))


def looks(id: str, layer: int, head: int) -> float:
    """How much of the last token's attention a head gives to the positions of a claim."""
    weights = trace_of(preset(id).prompt).read("attn.weights", layer)
    return float(sum(weights[head, -1, at] for at in CLAIMS[id].at))


def kept_without(id: str, layer: int, head: int) -> float:
    """The share of its probability that the guess keeps when a head is switched off."""
    whole = trace_of(preset(id).prompt)
    off = trace_of(preset(id).prompt, Edit("attn.mix", layer=layer, head=head))
    best = int(whole.logits().argmax())
    return float(off.probs()[best] / whole.probs()[best])


def heads() -> list[tuple[int, int]]:
    """(layer, head) of all heads."""
    c = open_model("nano").config
    return [(layer, head) for layer in range(c.n_layers) for head in range(c.n_heads)]


def holds(id: str, layer: int, head: int) -> bool:
    """Whether a head does what is claimed."""
    claim = CLAIMS[id]
    if layer < claim.first or looks(id, layer, head) <= claim.share:
        return False
    return not claim.needed or kept_without(id, layer, head) < HALF


def best(id: str) -> tuple[int, int] | None:
    """The head for which a claim holds best, or None where there is no such head: the one that is
    needed most, or the one that looks hardest.
    """
    claim = CLAIMS[id]
    if claim.like:
        return best(claim.like)
    found = [place for place in heads() if holds(id, *place)]
    if claim.needed:
        return min(found, key=lambda place: kept_without(id, *place), default=None)
    return max(found, key=lambda place: looks(id, *place), default=None)


def write(id: str, layer: int, head: int) -> None:
    """Put a prompt's layer and head into the table."""
    own = rf"(\[nano\.{id}\]\nprompt = .*\n)layer = \d+\nhead = \d+"
    text = re.sub(own, rf"\g<1>layer = {layer}\nhead = {head}", TABLE.read_text(encoding="utf-8"))
    TABLE.write_text(text, encoding="utf-8")


def main():
    """For each prompt its guess, and each head that looks where it is said."""
    for id, claim in CLAIMS.items():
        named, chosen = preset(id), best(id)
        print(f"{id}: {guess(trace_of(named.prompt))}, said: {claim.guess}, best: {chosen}")
        for place in heads():
            if claim.at and (share := looks(id, *place)) > HALF:
                mark = "  <- named" if place == (named.layer, named.head) else ""
                print(f"  {place}: looks {share:.2f}, keeps {kept_without(id, *place):.2f}{mark}")
        if "--write" in sys.argv and chosen:
            write(id, *chosen)


if __name__ == "__main__":
    main()
