"""The Loop page as its tests read it: its texts, its buttons, and what `generate` makes of the same
spec.
"""

from core import RunSpec
from core.decode.generate import generate
from tests.pages import reader

FRANCE = "The capital of France is"


def open_view(op="text", **link):
    app = reader.open_page("loop", op=op, **link)
    return settled(app)


def settled(app):
    """The page when all that it waits for has come: its button to stop is off."""
    for _ in range(200):
        assert not app.exception and not reader.notices(app, "error")
        stop = [button for button in app.button if button.key == "writing_stop"]
        if stop and stop[0].disabled:  # before the text has come to a fork there is none
            return app
        app.run()
    raise AssertionError("it never ends")


def strips(app):
    return [
        (meta, arrays)
        for meta, arrays in reader.figures(app)
        if "before" in meta and "tokens" in meta
    ]


def ids(app, number=0):
    return strips(app)[number][0]["ids"]


def expected(model="nano", n=40, prompt=FRANCE, **settings):
    spec = RunSpec(model, prompt=prompt, max_new_tokens=n, **({"temperature": 1.0} | settings))
    return list(generate(spec))


def press(app, name):
    return settled(app.button(key=f"writing_{name}").click().run())
