"""Colours: what a reader must be able to tell apart, as numbers."""

import colorsys

import numpy as np
import pytest

from viz.theme import BACKGROUND, PALETTES, ROLES, contrast, luminance, lut, luts, rgb, role

MODES = ("light", "dark")


def hue_and_colourfulness(colour):
    hue, _, _ = colorsys.rgb_to_hsv(*(int(c) / 255 for c in colour))
    return 360 * hue, int(max(colour)) - int(min(colour))


def test_contrast_of_known_pairs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a near miss
    assert rgb("#ff8000") == (255, 128, 0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ROLES)
def test_role_colours_are_readable_as_text(name, mode):
    assert contrast(role(name, mode == "dark"), BACKGROUND[mode]) >= 4.5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("palette", PALETTES)
def test_no_value_has_the_hue_of_a_role(palette, mode):
    roles = [hue_and_colourfulness(rgb(colours[mode])) for colours in ROLES.values()]
    coloured = [hue_and_colourfulness(c) for c in lut(palette, mode == "dark")]
    hues = np.array([hue for hue, chroma in coloured if chroma > 24])
    assert len(hues) > 100
    for hue, _ in roles:
        apart = np.abs((hues - hue + 180) % 360 - 180)
        assert apart.min() > 20


@pytest.mark.parametrize("mode, grows", [("light", -1), ("dark", 1)])
def test_more_is_always_further_from_the_background(mode, grows):
    amount = np.array([luminance(c) for c in lut("amount", mode == "dark")])
    signed = np.array([luminance(c) for c in lut("signed", mode == "dark")])
    assert (grows * np.diff(amount) >= 0).all() and abs(amount[-1] - amount[0]) > 0.5
    assert (grows * np.diff(signed[128:]) >= 0).all()
    assert (grows * np.diff(signed[:128]) <= 0).all()


def test_signed_is_centred_on_the_neutral_colour():
    zero = lut("amount")[0].astype(int)
    for code in (127, 128):
        assert np.abs(lut("signed")[code].astype(int) - zero).max() <= 2
    assert tuple(lut("signed")[255]) == tuple(lut("amount")[255])


def test_lut_is_a_read_only_table_of_bytes():
    table = lut("signed")
    assert table.shape == (256, 3) and table.dtype == np.uint8 and not table.flags.writeable
    assert set(luts("amount")) == {"lut_light", "lut_dark"}
    with pytest.raises(ValueError, match="rainbow"):
        lut("rainbow")
