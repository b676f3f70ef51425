"""A view saved as one HTML file: opened without any network, it shows what the page showed, and its
figures still answer to the pointer.

Knows the button and the marks of a saved figure; knows no view by its content.
"""

import lessons

HOSTILE = "</script><img src=x onerror=alert(1)> `$x$` <b>is"
FIGURE = "[data-figure]"


def kept(reader, tmp_path, language="en"):
    """The saved page, opened from the disk in a tab whose network is off, and what went wrong."""
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name=lessons.text(language, "keep.keep")).click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    page, wrong = reader.page.context.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: wrong.append(asked.url) if "http" in asked.url[:5] else None)
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.context.set_offline(True)
    page.goto(path.as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('[data-figure]')]"
        ".every((host) => host.shadowRoot?.childElementCount > 1)"
    )
    page.context.set_offline(False)
    return path, page, wrong


def test_a_saved_view_opens_alone_and_its_figures_live(reader, tmp_path):
    reader.open("/block", op="attn.weights", lang="zh")
    path, page, wrong = kept(reader, tmp_path, "zh")
    assert path.name == "tokenwalk-block-attn.weights.html" and path.stat().st_size < 2_000_000
    assert wrong == []
    for section in ("title", "idea"):
        first = getattr(lessons.op("zh", "attn.weights", {"attention"}), section)[:8]
        assert first in page.inner_text("main")
    assert lessons.text("zh", "keep.note") in page.inner_text("main")
    assert page.locator("math").count() and page.locator("pre").count()
    figure = page.locator(FIGURE).filter(has=page.locator("canvas.over")).last
    figure.locator("canvas.over").hover()
    assert figure.locator(".tip").inner_text()
    with page.expect_download() as download:
        figure.get_by_role("button").filter(has_text="CSV").click()
    assert download.value.suggested_filename.endswith(".csv")
    page.set_viewport_size({"width": 60, "height": 600})  # no room for a map: no fault, no hang
    page.wait_for_function("new Promise((done) => setTimeout(done, 200, innerWidth === 60))")
    assert wrong == []
    assert page.locator("main").locator("select, input, textarea, [data-door]").count() == 0
    page.close()


def test_a_hostile_text_is_only_text_in_a_saved_view(reader, tmp_path):
    reader.open("/lens", prompt=HOSTILE)
    _, page, wrong = kept(reader, tmp_path)
    assert page.locator(f"{FIGURE} canvas.over").count() == 1
    assert page.locator("main svg.main-svg").count() >= 2
    assert wrong == [] and HOSTILE in page.inner_text("main")
    assert page.locator("main img[src=x]").count() == 0
    page.close()
