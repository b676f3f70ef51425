"""One colour per role, and two palettes for values, each in light and in dark.

Knows colours as plain data; knows no figure, page or model. A role colour says *what* a number
is (query, key, ...); a value palette says *how much*. They share no hue, so that blue never means
both "query" and "negative".
"""

import numpy as np

BACKGROUND = {"light": "#ffffff", "dark": "#0e1117"}

ROLES = {
    "residual": {"light": "#5a6c87", "dark": "#909daf"},
    "query": {"light": "#1f5fea", "dark": "#719bf4"},
    "key": {"light": "#985d04", "dark": "#dc890c"},
    "value": {"light": "#147b3a", "dark": "#2ab25c"},
    "attention": {"light": "#8346e5", "dark": "#b187f5"},
    "mlp": {"light": "#6a6f09", "dark": "#9ca31d"},
    "logits": {"light": "#cc1964", "dark": "#f36fa6"},
}

# From the colour of zero to the colour of the limit. Zero sits beside the page background, so in
# dark the ends shine.
RUST = {"light": ("#f0f0f0", "#cf8b78", "#7f2208"), "dark": ("#26282b", "#9a5340", "#ff997d")}
TEAL = {"light": ("#f0f0f0", "#5fa8a4", "#00524e"), "dark": ("#26282b", "#2c8580", "#6fe8e2")}

PALETTES = ("signed", "amount")


def role(name: str, dark: bool = False) -> str:
    """The colour of a role as #rrggbb. KeyError for a name that is not in ROLES."""
    return ROLES[name]["dark" if dark else "light"]


def lut(palette: str, dark: bool = False) -> np.ndarray:
    """The 256 colours of a value palette, uint8 [code, rgb], read-only.

    "signed": code 0 is -limit (rust), 127 and 128 are about zero, 255 is +limit (teal).
    "amount": code 0 is zero, 255 is the limit (teal). ValueError for another name.
    """
    if palette not in PALETTES:
        raise ValueError(f"palette is {palette!r}, wanted one of {PALETTES}")
    mode = "dark" if dark else "light"
    if palette == "amount":
        colours = _ramp(TEAL[mode], np.linspace(0, 1, 256))
    else:
        signed = np.linspace(-1, 1, 256)
        negative = (signed < 0)[:, None]
        colours = np.where(negative, _ramp(RUST[mode], -signed), _ramp(TEAL[mode], signed))
    colours = np.rint(colours).astype(np.uint8)
    colours.setflags(write=False)
    return colours


def luts(palette: str) -> dict[str, np.ndarray]:
    """The arrays a browser component needs to paint in either theme: uint8 [code, rgb] each."""
    return {"lut_light": lut(palette), "lut_dark": lut(palette, dark=True)}


def rgb(colour: str) -> tuple[int, int, int]:
    """'#rrggbb' as three numbers 0..255. Example: rgb('#ff8000') == (255, 128, 0)."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def luminance(colour: tuple[int, int, int]) -> float:
    """WCAG relative luminance, 0 (black) to 1 (white)."""
    c = np.asarray(colour) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    """WCAG contrast of two #rrggbb colours, 1 (none) to 21 (black on white)."""
    low, high = sorted((luminance(rgb(a)), luminance(rgb(b))))
    return (high + 0.05) / (low + 0.05)


def _ramp(stops: tuple[str, str, str], amount: np.ndarray) -> np.ndarray:
    """Colours along three evenly spaced stops: amount [code] in 0..1 -> float64 [code, rgb]."""
    points = np.array([rgb(stop) for stop in stops], float)
    channels = [np.interp(amount, (0, 0.5, 1), points[:, i]) for i in range(3)]
    return np.stack(channels, axis=1)
