"""Finds a lesson or a short text, cuts it into sections, picks the lines that hold for a model and
fills its placeholders.

Knows the file format: `# title`, `> gist`, `## Section`, `[[placeholder]]`, and `[tag]` or `[!tag]`
where a line begins: the line is shown only where the op has the tag, or has it not. Does not know
Markdown, how a text is shown, or where a tag or a value comes from. What is missing is never
replaced: KeyError.
"""

import re
import tomllib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "zh")
PLACEHOLDER = re.compile(r"\[\[(\w+)\]\]")
SECTIONS = ("Idea", "Maths", "Look", "Predict", "Reveal", "Small", "Misread")
REQUIRED = {"ops": SECTIONS[:3], "pages": SECTIONS[:5], "views": ("Idea", "Look")}
HEAD = re.compile(r"# (?P<title>.+)\n(?P<gist>> .+(\n> .+)*)")
MARKED = re.compile(r"(?P<dash>- )?(?P<markers>(\[!?\w+\])+) ")
MARKER = re.compile(r"\[(!?)(\w+)\]")
BETWEEN_LINES = {"en": " ", "zh": ""}
ROOT = Path(__file__).parent


@dataclass(frozen=True)
class Lesson:
    """The unfilled texts of one op, page or view of a page. An op may lack `predict` and `reveal`;
    a view, all but `idea` and `look`.

    `small`: what of the page is the same in Nano, and what is only small; for Nano alone.
    `misread`: what is often believed here, and what the run says.
    """

    title: str
    gist: str
    idea: str
    maths: str = ""
    look: str = ""
    predict: str = ""
    reveal: str = ""
    small: str = ""
    misread: str = ""


def op(language: str, op_id: str, tags: Collection[str]) -> Lesson:
    """The lesson of one op, such as "attn.scores", for an op with these tags.

    KeyError names a missing file or section.
    """
    return _shown(_lesson(language, "ops", op_id), tags, BETWEEN_LINES[language])


def page(language: str, name: str, tags: Collection[str] = ()) -> Lesson:
    """The lesson of one page, such as "block", where the ops on it have these tags together.

    KeyError names a missing file or section.
    """
    return _shown(_lesson(language, "pages", name), tags, BETWEEN_LINES[language])


def view(language: str, name: str, tags: Collection[str] = ()) -> Lesson:
    """The lesson of one view of a page, such as "tokens.compare". KeyError as `page`."""
    return _shown(_lesson(language, "views", name), tags, BETWEEN_LINES[language])


def text(language: str, key: str, /, **values) -> str:
    """The short text at a dotted `key`, filled: of ui.toml, or of views/<page>.<view>.toml, where
    keys begin with <page>.<view>. KeyError names what is missing.
    """
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
    gist = re.sub("^> ", "", found["gist"], flags=re.MULTILINE)
    return Lesson(found["title"], gist, **{name.lower(): sections[name] for name in sections})


def _shown(lesson, tags, between):
    """The lesson with only the lines that hold under these tags, and without markers."""
    texts = asdict(lesson).items()
    return Lesson(**{name: _paragraphs(body, tags, between) for name, body in texts})


def _paragraphs(body, tags, between):
    paragraphs = (_paragraph(lines.split("\n"), tags, between) for lines in body.split("\n\n"))
    return "\n\n".join(text for text in paragraphs if text)


def _paragraph(lines, tags, between):
    """What is left of a paragraph, joined; formulas and lists keep their lines."""
    kept = [left for line in lines if (left := _line(line, tags)) is not None]
    return ("\n" if lines[0].startswith(("$$", "- ")) else between).join(kept)


def _line(line, tags):
    """A line without its markers; None where one of them does not hold."""
    found = MARKED.match(line)
    if found is None:
        return line
    if any((tag in tags) == bool(no) for no, tag in MARKER.findall(found["markers"])):
        return None
    return (found["dash"] or "") + line[found.end() :]


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
    table = _read(path)
    if name == "ui":
        for own in sorted(path.parent.glob("views/*.toml")):
            table |= _read(own, f"{own.stem}.")
    return table


def _read(path: Path, prefix: str = "") -> dict[str, str]:
    return _flat(tomllib.loads(path.read_text(encoding="utf-8")), prefix)


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
