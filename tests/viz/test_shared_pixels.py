"""Where several numbers share a pixel of a matrix, the figure says so, run by Node."""

import pytest

from tests.viz.test_canvas_scripts import MATRIX, answer, pytestmark  # noqa: F401


@pytest.mark.parametrize(
    ("shape", "pixels", "said"),
    [
        ([1, 576], [425, 18], "up to 2"),
        ([1, 425], [425, 18], ""),
        ([1, 1536], [425, 18], "up to 4"),
        ([40, 900], [450, 20], "up to 4"),  # two across, two down
        ([40, 900], [900, 40], ""),
    ],
)
def test_how_many_numbers_share_a_pixel(shape, pixels, said, tmp_path):
    view = f'{{meta: {{labels: {{several: "up to {{n}}"}}}}, shape: {shape}}}'
    assert answer(f"severalOf({view}, {pixels[0]}, {pixels[1]})", tmp_path, *MATRIX) == said


def test_the_sentence_takes_room_from_the_scale_and_never_from_the_buttons(tmp_path):
    legend = '{low: "-1", high: "1", masked: "", several: "up to 2 a pixel"}'
    placed = answer(f'placeLegend({legend}, "f", 92, 520, 140)', tmp_path, *MATRIX)
    texts, sentence = 3 * 7 + 12, 15 * 7
    assert placed["note"] == "up to 2 a pixel" and placed["end"] == 520 - 140 - 16
    assert placed["start"] + texts + placed["bar"] + 16 + sentence <= placed["end"]
    tight = answer(f'placeLegend({legend}, "f", 92, 300, 140)', tmp_path, *MATRIX)
    assert tight["note"] == ""
