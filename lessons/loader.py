"""Finds a lesson or a short text, cuts it into sections and fills its placeholders.

Knows the file format: `# title`, `> gist`, `## Section`, `[[placeholder]]`. Does not know Markdown,
how a text is shown, or where a value comes from. What is missing is never replaced: KeyError.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")
PLACEHOLDER = re.compile(r"\[\[(\w+)\]\]")
SECTIONS = ("Idea", "Maths", "Look", "Predict", "Reveal")
REQUIRED = {"ops": SECTIONS[:3], "pages": SECTIONS}
HEAD = re.compile(r"# (?P<title>.+)\n> (?P<gist>.+)")
ROOT = Path(__file__).parent


@dataclass(frozen=True)
class Lesson:
    """The unfilled texts of one op or page; an op may lack `predict` and `reveal`."""

    title: str
    gist: str
    idea: str
    maths: str
    look: str
    predict: str = ""
    reveal: str = ""


def op(language: str, op_id: str) -> Lesson:
    """The lesson of one op, such as "attn.scores". KeyError names a missing file or section."""
    return _lesson(language, "ops", op_id)


def page(language: str, name: str) -> Lesson:
    """The lesson of one page, such as "block". KeyError names a missing file or section."""
    return _lesson(language, "pages", name)


def text(language: str, key: str, /, **values) -> str:
    """The short text at a dotted `key` of ui.toml, filled. KeyError names what is missing."""
    return _entry(language, "ui", key, values)


def error(language: str, code: str, /, **params) -> str:
    """The sentence for an error's `code`, filled. KeyError names what is missing."""
    return _entry(language, "errors", code, params)


def fill(template: str, /, **values) -> str:
    """`template` with each [[name]] replaced by its value; a value is never read as a template.

    Values that the template does not name are allowed. KeyError names one that is missing.
    """
    return PLACEHOLDER.sub(lambda found: str(values[found[1]]), template)


@cache
def _lesson(language: str, kind: str, name: str) -> Lesson:
    # Names come from links: they are looked up among the files there are, never made into a path.
    files = {path.stem: path for path in (_folder(language) / kind).glob("*.md")}
    if name not in files:
        raise KeyError(f"no lesson {language}/{kind}/{name}.md")
    return _parse(files[name].read_text(encoding="utf-8"), kind, f"{language}/{kind}/{name}.md")


def _parse(source: str, kind: str, where: str) -> Lesson:
    head, *parts = re.split(r"^## ", source, flags=re.MULTILINE)
    found = HEAD.fullmatch(head.strip())
    if not found:
        raise KeyError(f"{where} does not begin with '# title' and '> gist'")
    sections = {name: body.strip() for name, _, body in (part.partition("\n") for part in parts)}
    for name in REQUIRED[kind]:
        if not sections.get(name):
            raise KeyError(f"{where} has no section '## {name}'")
    if unknown := sections.keys() - set(SECTIONS):
        raise KeyError(f"{where} has unknown sections: {', '.join(sorted(unknown))}")
    return Lesson(**found.groupdict(), **{name.lower(): body for name, body in sections.items()})


def _entry(language: str, name: str, key: str, values: dict) -> str:
    table = _table(language, name)
    if key not in table:
        raise KeyError(f"no text {key!r} in {language}/{name}.toml")
    return fill(table[key], **values)


@cache
def _table(language: str, name: str) -> dict[str, str]:
    path = _folder(language) / f"{name}.toml"
    if not path.is_file():
        raise KeyError(f"no file {language}/{name}.toml")
    return _flat(tomllib.loads(path.read_text(encoding="utf-8")))


def _flat(table: dict, prefix: str = "") -> dict[str, str]:
    flat = {}
    for key, value in table.items():
        nested = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{key}.") if nested else {prefix + key: value}
    return flat


def _folder(language: str) -> Path:
    if language not in LANGUAGES:
        raise KeyError(f"no language {language!r}; there are {', '.join(LANGUAGES)}")
    return ROOT / language
