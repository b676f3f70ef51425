"""The scripts of the browser components, each under an address of this server.

Streamlit sends the script of a component anew with every figure of every run. What it is given here
is one line that imports the script, which the browser then fetches once. Knows files and their
addresses; no figure.
"""

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
PATH = "/canvas"  # where app.py hands them out
SCRIPTS: dict[str, str] = {}  # by file name, which changes with the text


def door(name: str, *files: str) -> str:
    """A script that imports the given files of this folder, joined in this order."""
    text = "\n".join((HERE / file).read_text("utf-8") for file in files)
    file = f"{name}.{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
    SCRIPTS[file] = text
    # A whole address: the script that imports has none of its own that a path could start from.
    # Two lines: Streamlit takes a single one for the name of a file.
    where = f'const where = location.origin + "{PATH}/{file}";'
    return f"{where}\nexport default (await import(where)).default;"
