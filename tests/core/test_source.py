"""Code that pages show: as it stands in its file, several functions or several parts as one."""

from pathlib import Path

from core.analyse import near, source, tied


def test_the_code_is_that_of_the_file():
    shown = source.of(near.dot, near.cosine)
    text = Path(near.__file__).read_text(encoding="utf-8")
    first, second = shown.source.split("\n\n")[:2]
    assert first in text and second in text and shown.file == "core/analyse/near.py"


def test_parts_of_several_files_are_joined_and_each_file_named_once():
    parts = source.of(near.dot), source.of(tied.nearest), source.of(near.rank)
    both = source.joined(*parts)
    assert both.source == "\n\n".join(part.source for part in parts)
    assert both.file == "core/analyse/near.py, core/analyse/tied.py"
