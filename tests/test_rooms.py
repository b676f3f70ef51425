"""Who may import whom, how long a file may be, and that no sentence lives in the code of the pages.

A room is a folder or module by its dotted name; the longest name that fits counts.
Modules of the standard library may be imported everywhere.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENGINE = ["core.files", "core.text", "core.model", "core.record", "core.run", "core.store"]
ENGINE += ["core.spec", "core.opening", "core.errors", "numpy"]
MAY_IMPORT = {
    "core": ["core"],  # __init__: the public names
    "core.__main__": ["core"],
    "core.errors": [],
    "core.store": [],
    "core.model": ["core.model", "core.errors", "numpy"],
    "core.text": ["core.text", "core.errors", "core.store", "tokenizers", "jinja2"],
    "core.files": ["core.files", "core.errors", "core.store", "numpy", "gguf", "safetensors"]
    + ["core.model.config", "core.model.architectures"],
    "core.files.client": ["core.files", "core.errors", "huggingface_hub", "httpx2"],
    "core.record": [
        "core.record",
        "core.model",
        "core.errors",
        "core.store",
        "numpy",
        "safetensors",
    ],
    "core.spec": ["core.errors", "core.model.tap"],
    "core.heap": [],
    "core.opening": ["core.heap", "core.files", "core.text", "core.model.config", "core.store"],
    "core.run": [room for room in ENGINE if room != "core.run"],
    "core.decode": ["core.decode", *ENGINE],
    "core.analyse": ["core.analyse", "core.decode", *ENGINE],
    "viz": ["viz", "numpy", "plotly", "core.model.axes", "core.record.catalogue"],
    "lessons": ["lessons"],
    "pages": ["streamlit", "core", "viz", "lessons", "pages"],
    "app": ["streamlit", "starlette", "core", "pages", "lessons"]
    + ["pandas", "plotly", "pyarrow"],  # the warm-up imports what is heavy
}
FILES = [p for room in ("core", "viz", "lessons", "pages") for p in ROOT.glob(f"{room}/**/*.py")]
FILES += ROOT.glob("app.py")


def modules(tree, package):
    """Every module a file imports, by full name: `from a import b` may be the module a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def within(module, rooms):
    return any(f"{module}.".startswith(f"{room}.") for room in rooms)


def forbidden(path, source):
    """What a file imports and may not."""
    name = path.relative_to(ROOT).with_suffix("").parts
    room = ".".join(name).removesuffix(".__init__")
    room = max((r for r in MAY_IMPORT if within(room, [r])), key=len)
    allowed = [*MAY_IMPORT[room], *sys.stdlib_module_names]
    tree = ast.parse(source)
    return [m for m in modules(tree, list(name[:-1])) if not within(m, allowed)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_stay_within_the_rooms(path):
    assert forbidden(path, path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("core/model/ops.py", "import core.record.trace"),
        ("core/model/ops.py", "from ..files import gguf"),
        ("core/model/ops.py", "def f():\n    import streamlit"),
        ("core/text/chat.py", "from core.model import config"),
        ("core/files/gguf.py", "from core.model import ops"),
        ("core/run.py", "from core.decode import generate"),
        ("core/decode/beam.py", "import plotly"),
        ("viz/matrix.py", "from core import run"),
        ("viz/matrix.py", "import streamlit as st"),
        ("lessons/loader.py", "from core.errors import SENTENCES"),
        ("pages/block.py", "import numpy as np"),
        ("pages/parts/run.py", "import plotly.graph_objects"),
        ("core/analyse/lens.py", "from pages.parts import words"),
    ],
)
def test_the_check_of_imports_can_fail(file, line):
    assert forbidden(ROOT / file, line)


@pytest.mark.parametrize(
    "path",
    [p for room in ("core", "pages", "viz", "lessons") for p in ROOT.glob(f"{room}/**/*")],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_file_is_over_300_lines(path):
    if path.suffix in (".py", ".js", ".css"):
        assert len(path.read_text("utf-8").splitlines()) <= 300


# at least three words in a row, as prose has and names, formats and CSS have not
WORDS = re.compile(r"(?<![\w.#-])[A-Za-z]['’a-z]* [a-z]['’a-z]+ [a-z]['’a-z]+(?![\w(:=-])")
CODE = re.compile(r"[{}<>=;]|--|://")


def is_prose(text):
    return len(text) > 20 and bool(WORDS.search(text)) and not CODE.search(text)


def sentences(source):
    """String literals that look like prose, except docstrings, what is raised, and prompts.

    The first two are for developers; a prompt is what the model reads.
    """
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        prompt = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_PROMPT")
        if docstring or prompt or isinstance(node, ast.Raise):
            skipped |= {id(inner) for inner in ast.walk(node)}
    strings = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in skipped)
    return [s.value for s in strings if isinstance(s.value, str) and is_prose(s.value)]


@pytest.mark.parametrize(
    "path",
    [p for room in ("pages", "viz") for p in ROOT.glob(f"{room}/**/*.py")],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_sentence_lives_in_the_code_of_the_pages(path):
    assert sentences(path.read_text("utf-8")) == []


def test_the_check_of_sentences_can_fail():
    prose = 'x = f(label="Pick a token to look at", help=f"The {n} tokens of this prompt")'
    assert sentences(prose) == ["Pick a token to look at", " tokens of this prompt"]
    clean = '''
"""A docstring may say what it likes."""
style = "display: flex; gap: 4px; color: red"
font = "system-ui, sans-serif, Noto Color Emoji"
key = "page.block.attention.weights"
raise ValueError("axes must be one of the known ones")
'''
    assert sentences(clean) == []
