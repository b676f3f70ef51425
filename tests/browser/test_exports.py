"""What a reader takes along holds what the run computed, to the last bit: the picture, the table
and the arrays of a map, and the picture of a chart. (The view as a page: test_keep.py.)

Knows the buttons and the kinds of files; knows no view by its content.
"""

import csv
import struct

import numpy as np
import pytest

import lessons
from core import RunSpec, run

PROMPT = "the cat and the dog"
LAYER, HEAD = 1, 2
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def saved(reader, tmp_path):
    """saved(button) -> the file that a click on it saves."""

    def save(button):
        with reader.page.expect_download() as download:
            button.click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    return save


def test_a_map_as_picture_table_and_arrays(reader, saved):
    reader.open("/atlas", model="nano", op="head", layer=LAYER, head=HEAD, prompt=PROMPT)
    weights = run(RunSpec("nano", prompt=PROMPT)).read("attn.weights", LAYER)[HEAD]
    figure = reader.key("head_map_weights")
    button = figure.get_by_role("button")

    picture = saved(button.filter(has_text=lessons.text("en", "matrix.save_png")))
    data, drawn = picture.read_bytes(), figure.locator("canvas.base")
    assert picture.name == f"weights_layer{LAYER}_head{HEAD}.png" and data.startswith(PNG)
    assert list(struct.unpack(">II", data[16:24])) == drawn.evaluate("c => [c.width, c.height]")

    table = saved(button.filter(has_text=lessons.text("en", "matrix.save_csv")))
    assert table.name == f"weights_layer{LAYER}_head{HEAD}.csv"
    with table.open(encoding="utf-8-sig", newline="") as file:
        lines = [line[1:] for line in csv.reader(file)][1:]
    seen = np.tri(
        len(weights), dtype=bool
    )  # a key behind its query has no weight, not the weight 0
    assert [[cell != "" for cell in line] for line in lines] == seen.tolist()
    found = np.array([[float(cell or 0) for cell in line] for line in lines], np.float32)
    assert found.tobytes() == weights.tobytes()

    arrays = saved(reader.key("npz_atlas_head").locator("button"))
    assert arrays.name == "atlas_head.npz"
    with np.load(arrays, allow_pickle=False) as file:
        assert file["weights"].tobytes() == weights.tobytes()
        assert (file["layer"], file["head"]) == (LAYER, HEAD)
        assert file["tokens"].tolist() == list(run(RunSpec("nano", prompt=PROMPT)).tokens)


def test_a_chart_as_picture_and_table(reader, saved):
    reader.open("/lens", model="nano", prompt=PROMPT)
    probs = run(RunSpec("nano", prompt=PROMPT)).probs()
    chart = reader.key("lens_column_prob")
    chart.hover()
    picture = saved(chart.locator(".modebar-btn"))
    assert picture.name == "lens_column_prob.svg"
    assert picture.read_text("utf-8").startswith("<svg")
    with saved(reader.key("save_lens_first").locator("button")).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == np.argsort(-probs, kind="stable")[:20].tolist()
    assert [float(row["probability"]) for row in rows] == sorted(probs.tolist())[:-21:-1]
