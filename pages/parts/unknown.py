"""What is said where a vocabulary has no token for a part of the reader's text: some leave bytes
out, some put one "unknown" token in their place. Knows the session and words.
"""

from core.text.display import show_text
from pages.parts import run, session, words
from pages.parts.html import Token

MOST_SHOWN = 12  # different parts
LONGEST = 16 * run.LONGEST  # characters; a longer text is no prompt, unless it is hardly but spaces


def sentences(tokenizer) -> list[str]:
    """One sentence (HTML) for each of the two, where the reader's text needs it."""
    prompt = session.prompt()
    if len(prompt) > LONGEST:  # the page refuses it
        return []
    dropped = run.compute(tokenizer.dropped, prompt)
    unknown = run.compute(tokenizer.unknown_parts, prompt)
    said = []
    if dropped:
        said.append(words.html("tokens.dropped", bytes=" ".join(f"{b:02X}" for b in dropped)))
    if unknown:
        said.append(words.html("notice.unknown", n=len(unknown), parts=Token(_shown(unknown))))
    return said


def _shown(parts) -> str:
    """The different ones, visible; the rest as an ellipsis."""
    different = list(dict.fromkeys(show_text(part) for part in parts))
    return " ".join(different[:MOST_SHOWN] + ["…"] * (len(different) > MOST_SHOWN))
