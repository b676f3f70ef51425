"""What several tests share: a tiny random model, and the real one where it has been fetched."""

import os

# as in app.py, before NumPy is imported: several test processes share the cores with a browser
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from core import open_model
from core.files import registry
from tests import tiny as tiny_file

SMOLLM = "smollm2-135m-instruct"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The tiny model, opened."""
    return open_model(tiny_file.build(tmp_path_factory.mktemp("models") / "tiny.gguf"))


@pytest.fixture(scope="session")
def smollm():
    """SmolLM2-135M-Instruct, opened. Skips where it was not fetched; fails there under CI."""
    if not registry.on_disk(SMOLLM) and not os.environ.get("CI"):
        pytest.skip(f"{SMOLLM} is not on disk; python -m core fetch {SMOLLM}")
    return open_model(SMOLLM)


@pytest.fixture(scope="session")
def tiny_name(tiny):
    """What a RunSpec calls the tiny model."""
    return str(tiny.source.path)
