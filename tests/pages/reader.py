"""What a reader of a page sees, taken out of Streamlit's AppTest.

Knows elements and lesson templates; knows no page by its content.
"""

import itertools
import re
from functools import cache
from html import unescape
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import lessons
from tests.lessons.models import VIEWS
from viz.payload import unpack

# Each AppTest looks through all installed packages for components, which takes longer than a page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
ROOT = Path(__file__).parents[2]
FRAME = str(ROOT / "pages" / "frame.py")
PAGES = (
    "start",
    "tokens",
    "embedding",
    "block",
    "positions",
    "output",
    "sampling",
    "loop",
    "cache",
    "atlas",
    "lens",
)
# a language for each page, in turn: for what both say by the same code
IN_TURN = tuple(zip(PAGES, itertools.cycle(lessons.LANGUAGES), strict=False))
MARKS = re.compile(r"\[\[\w+\]\]|\*\*|`|\n")


def open_page(name: str, /, **link) -> AppTest:
    """The page `name` as the very first request of a new reader, with these values in its link."""
    app = AppTest.from_file(FRAME, default_timeout=120)
    app.query_params.update({key: str(value) for key, value in link.items()})
    if name != "start":
        app.switch_page(f"{name}.py")
    return app.run()


def html(app: AppTest) -> list[str]:
    """The HTML that our own renderer put on the page, as it is sent to the browser, without the
    style sheet.
    """
    sent = [element.proto.body for element in app.get("html")]
    return [body for body in sent if not body.startswith("<style")]


def plain(source: str) -> str:
    """The text of some HTML."""
    return unescape(re.sub(r"<[^>]+>", "", source))


def streamlit_texts(app: AppTest) -> list[str]:
    """All that Streamlit itself would interpret: Markdown, captions and the labels of widgets."""
    texts = [element.value for element in (*app.markdown, *app.caption)]
    for kind in ("button", "text_area", "text_input", "number_input", "selectbox", "toggle"):
        texts += [element.label for element in app.get(kind)]
    texts += [block.label for block in (*app.tabs, *app.expander)]
    texts += [link.proto.label for link in app.get("page_link")]
    return texts + [option for group in app.button_group for option in group.options]


def canvases(app: AppTest) -> list[dict]:
    """The part of each canvas payload that is not numbers: labels, tokens, the chosen item."""
    return [meta for meta, _ in figures(app)]


def figures(app: AppTest) -> list[tuple[dict, dict]]:
    """Each canvas payload: what `canvases` gives of it, and its arrays by name."""
    packed = [each.proto for each in app.get("bidi_component") if _packed(each)]
    return [unpack(proto.bytes) for proto in packed]


def shown(meta: dict) -> str:
    """What the numbers of a figure are: the name of its files without the place behind it."""
    return re.split(r"_(?:layer|pos|row)\d", meta.get("name", ""))[0]


def _packed(element) -> bool:
    return element.proto.WhichOneof("data") == "bytes"


def text(app: AppTest) -> str:
    """All text on the page but that inside figures; taken out once for each run of the page."""
    run = vars(app._tree)
    if "tw_text" not in run:
        run["tw_text"] = "\n".join([plain(part) for part in html(app)] + streamlit_texts(app))
    return run["tw_text"]


def pieces(template: str) -> list[str]:
    """What stays of a lesson's text when its values and marks are taken away."""
    return [part.strip() for part in MARKS.split(template) if part.strip()]


def missing(app: AppTest, template: str) -> list[str]:
    """The pieces of a lesson's text that the page does not show."""
    shown = text(app)
    return [part for part in pieces(template) if part not in shown]


def title_missing(app: AppTest, language: str, name: str) -> list[str]:
    """The pieces of the page's own question that its heading lacks; an empty page lacks all."""
    heading = "".join(part for part in html(app) if "<h1" in part)
    return [part for part in pieces(_title(app, language, name)) if part not in plain(heading)]


def _title(app, language, name):
    """The question of a page; a view has its own, and so has the MLP's half of a block."""
    op = "".join(app.query_params.get("op", ""))
    if f"{name}.{op}" in VIEWS and name != "block":
        return lessons.view(language, f"{name}.{op}").title
    if name == "block" and ("mlp" in op or "resid_post" in op):
        return lessons.text(language, "block.alone", token="[[token]]")
    return lessons.page(language, name).title


def notices(app: AppTest, kind: str = "") -> list[str]:
    """The sentences in boxes; kind "error" for those that say why there is nothing to see."""
    return [
        plain(part) for part in html(app) if re.match(rf'<div class="tw-notice[^"]*{kind}"', part)
    ]


def verdict(app: AppTest) -> str | None:
    """What "explain this number" and the figures say: "equal" where all do, else "unequal"; None
    where nothing is compared.
    """
    found = re.findall(r'data-verdict="(\w+)"', "".join(html(app)))
    return ("equal" if set(found) == {"equal"} else "unequal") if found else None
