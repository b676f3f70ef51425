"""Arrays to take along: what a reader's NumPy finds in the file."""

import io
import json

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import archive
from tests.tiny import build


@pytest.fixture
def trace(tmp_path):
    return run(RunSpec(str(build(tmp_path / "tiny.gguf")), ids=(3, 4, 5)))


def test_an_archive_holds_the_arrays_and_what_they_are_of(trace):
    weights = trace.read("attn.weights", 0)
    saved = archive.npz(trace, {"weights": weights, "layer": 0})
    found = np.load(io.BytesIO(saved), allow_pickle=False)
    assert (found["weights"] == weights).all() and found["weights"].dtype == np.float32
    assert found["layer"] == 0 and found["ids"].tolist() == [3, 4, 5]
    assert found["tokens"].tolist() == list(trace.tokens)
    about = json.loads(str(found["about"]))
    assert about["model_sha256"] == trace.model.source.sha256
    assert about["model_file"] == "tiny.gguf" and about["edits"] == []


def test_what_would_have_to_be_unpickled_is_refused(trace):
    with pytest.raises(TypeError, match="ragged"):
        archive.npz(trace, {"ragged": np.array([[1], [2, 3]], dtype=object)})
