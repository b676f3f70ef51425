"""The scripts of the browser components: each under an address that changes with its text.

That the browser runs them is tested by every test in tests/browser.
"""

from starlette.testclient import TestClient

import app
from pages import canvas  # noqa: F401  (registers them)
from pages.canvas import scripts
from pages.parts import following


def test_a_door_names_the_joined_script_by_its_text():
    door = scripts.door("merges", "common.js", "merges.js")
    (name,) = (name for name in scripts.SCRIPTS if name.startswith("merges.") and name in door)
    common, own = ((scripts.HERE / file).read_text("utf-8") for file in ("common.js", "merges.js"))
    assert scripts.SCRIPTS[name] == f"{common}\n{own}"
    assert (
        scripts.door("merges", "merges.js")
        != door
        == scripts.door("merges", "common.js", "merges.js")
    )


def test_the_server_hands_out_these_scripts_and_no_file_or_text_that_nobody_follows():
    with TestClient(app.app) as client:
        for name, text in scripts.SCRIPTS.items():
            answer = client.get(f"{scripts.PATH}/{name}")
            assert answer.text == text
            assert answer.headers["content-type"].startswith("text/javascript")
            assert "immutable" in answer.headers["cache-control"]
        for other in ("matrix.js", "matrix.000000000000.js", "..%2f__init__.py"):
            assert client.get(f"{scripts.PATH}/{other}").status_code in (400, 404)
        for nobody in ("nobody?first=0", "nobody", "nobody?first=-1"):  # asks no more after a 204
            assert client.get(f"{following.PATH}/{nobody}").status_code == 204
