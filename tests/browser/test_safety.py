"""What a prompt may not do to a page that is loaded with it, and what the server says of itself.

Knows hostile text and HTTP headers. (Typed, and from page to page: test_main_path.py.)
"""

import json
from urllib.request import urlopen

import pytest

HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    '<b id="evil">x</b> $x$ *y* [a](http://example.org) ![c](http://example.org/c.png)'
)
# Elements that the prompt would have made, in the page and inside every component.
MADE = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap(
    (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const made = (node) => node.id === "evil" || node.getAttribute("src") === "x"
    || (node.host ?? "").includes("example.org")  // a link that leads there, not one that says it
    || (node.tagName === "SCRIPT" && node.textContent.includes("hacked"));
  return all(document).filter(made).map((node) => node.outerHTML);
}"""


def test_a_hostile_prompt_stands_on_the_page_as_it_was_typed(reader):
    reader.open("/tokens", prompt=HOSTILE)
    assert reader.page.evaluate(MADE) == [] and reader.page.evaluate("window.hacked") is None
    tokens = reader.chips("reading").locator(".text").all_text_contents()
    assert "".join(tokens) == HOSTILE.replace(" ", "␣")
    parts = reader.key("reading").locator(".part").all_text_contents()
    assert "".join(parts) == HOSTILE.replace(" ", "␣")


def test_a_model_in_the_link_is_only_text(reader):
    reader.open("/tokens", model="../../x<b id=evil>")
    assert reader.page.evaluate(MADE) == []
    assert "../../x<b id=evil>" in reader.page.locator(".tw-notice.error").inner_text()


@pytest.mark.parametrize("path", ["/", "/block", "/api/health", "/nowhere"])
def test_every_answer_has_the_security_headers(server, path):
    with urlopen(server + path) as answer:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "object-src 'none'" in policy
        assert "http:" not in policy and "https:" not in policy and "*" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_health_says_which_models_are_there(server):
    with urlopen(server + "/api/health") as answer:
        said = json.load(answer)
    assert said == {"ok": True, "models": ["smollm2-135m-instruct", "nano"]}
