"""Take the pictures in docs/, in Chromium: python tools/screenshots.py.

Knows the harness of the browser tests and which view shows a page at its best.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser import harness  # noqa: E402

EIFFEL = "The Eiffel Tower is located in the city of"
SHOTS = {  # name: (page, values of the link, theme, height)
    "start": ("/", {"prompt": EIFFEL}, "light", 1240),
    "tokens": ("/tokens", {"prompt": "I love 🍕 and strawberries!\n你好", "pos": 3}, "light", 900),
    "embedding": ("/embedding", {"op": "arithmetic"}, "light", 1400),
    "block": ("/block", {"op": "attn.scores"}, "dark", 1000),
    "positions": ("/positions", {"pos": 3}, "dark", 1150),
    "output": ("/output", {"lang": "zh"}, "light", 1000),
    "heads": ("/atlas", {}, "light", 1300),
    "layers": ("/lens", {"prompt": EIFFEL}, "dark", 1350),
}


def main():
    """All pictures, each in a context of its own."""
    log = Path(tempfile.mkdtemp()) / "server.log"
    with harness.server(log) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=harness.chromium(), args=harness.FLAGS
        )
        for name, (page, link, theme, height) in SHOTS.items():
            size = {"width": 1440, "height": height}
            context = chromium.new_context(viewport=size, color_scheme=theme)
            reader = harness.Reader(context, address).open(page, **link)
            reader.calm(600)
            reader.page.screenshot(path=ROOT / "docs" / f"{name}.png")
            context.close()


if __name__ == "__main__":
    main()
