"""Writes the measured figures into models/nano/README.md: `python tools/nano_readme.py`.

Knows what is measured and how it is said; measures nothing itself.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools import nano_measure as measure  # noqa: E402

README = Path(measure.NANO) / "README.md"
FIRST, LAST = "<!-- measured -->\n", "<!-- /measured -->\n"
LOSSES = {
    "all": "Loss on 256 held-out texts (the generator's own), nat per token",
    "sentences": "of those that are sentences only",
    "repeats": "of those that end in a repeat",
}
SHARES = {
    "facts_recalled": "Capitals in sentences that training never had",
    "receivers": "Who was given it, in either order",
    "agreement": "`is` or `are` after two nouns, by the first",
    "copied_codes": "Codes of 3 or 4 digits said again",
    "second_copy_accuracy": "Random words of the world, said a second time",
    "grammatical": "Prompts continued by 60 tokens of whole, grammatical sentences",
}
HEADS = {
    "induction": "Best induction score, on repeated random words",
    "previous": "Best previous-token score, on repeated random words",
    "previous in texts": "Best previous-token score, on held-out sentences",
}


def figures(name: str) -> list[str]:
    """The rows of the table, as Markdown."""
    losses, scores = measure.losses(name), measure.scores(name)
    cells = [(text, "{:.3f} ({:.3f})".format(*losses[part])) for part, text in LOSSES.items()]
    cells += [(text, f"{getattr(measure, what)(name):.1%}") for what, text in SHARES.items()]
    where = "{:.3f}, layer {} head {}"
    cells += [(text, where.format(*measure.best(scores[what]))) for what, text in HEADS.items()]
    return [f"| {text} | {value} |" for text, value in cells]


def main():
    """Replace the table in the README."""
    before, rest = README.read_text("utf-8").split(FIRST)
    table = "\n".join(["| Measured | |", "|---|---|", *figures(measure.NANO)])
    after = rest.split(LAST)[1]
    README.write_text(f"{before}{FIRST}{table}\n{LAST}{after}", "utf-8")
    print(table)


if __name__ == "__main__":
    main()
