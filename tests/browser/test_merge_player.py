"""The first view of the tokens page in a browser: pointing joins text and tokens, the player steps
by keys of its own, and a link says where it stood.

Knows the merges of `strawberry` in SmolLM2's file.
"""

from playwright.sync_api import expect

WORD = "strawberry 🦙"
MERGED = "st raw berry"


def symbols(reader):
    """What stands in the player now."""
    return " ".join(reader.key("merges").locator(".symbol .text").all_inner_texts())


def test_pointing_joins_text_and_tokens_and_the_player_steps_by_its_own_keys_and_plays(reader):
    reader.open("/tokens", prompt=WORD)
    reading = reader.key("reading")
    reading.locator(".chip").nth(4).hover()
    expect(reading.locator(".part.lit")).to_have_text(["🦙"])
    reading.locator(".part").filter(has_text="🦙").hover()
    lit = reading.locator(".chip.lit .text")
    expect(lit).to_have_text(["␣⟨F0 9F⟩", "⟨A6⟩", "⟨99⟩"])
    expect(reading.locator(".said bdi")).to_have_count(3)
    expect(reading.locator(".said")).to_contain_text("id 116, position 4 · A6")
    with reader.rerun():
        reading.locator(".part").first.click()
    expect(reading.locator('.chip[aria-selected="true"] .text')).to_have_text("st")
    reader.expect_link("pos=0")
    assert symbols(reader) == " ".join("strawberry")
    # the player steps by its own keys, and the link keeps the step
    now = reader.key("merges").locator(".now")
    now.focus()
    with reader.rerun():
        for key in ("Home", "ArrowRight", "ArrowRight"):
            now.press(key)
    assert symbols(reader) == "st r a w b er r y"
    expect(reader.key("merges").locator(".symbol.next .text")).to_have_text(["r", "a"])
    expect(reader.key("merges").locator("li.next .rank")).to_have_text("65")
    reader.expect_link("cell=2", without=("op=",))  # no other view
    reader.page.evaluate("sessionStorage.clear()")  # as a new reader
    reader.open(reader.page.url.removeprefix(reader.address))
    assert symbols(reader) == "st r a w b er r y"
    plays_to_the_end(reader)


def plays_to_the_end(reader):
    """And another piece begins afresh."""
    player, pieces = reader.key("merges"), reader.key("pieces").locator(".chip")
    with reader.rerun():
        for key in ("End", "ArrowLeft", "ArrowLeft"):
            player.locator(".now").press(key)
    reader.expect_link("cell=5")
    player.locator("button.play").click()
    expect(player.locator(".symbol .text")).to_have_text(MERGED.split())
    reader.expect_link("cell=7", "pos=0")
    with reader.rerun():
        pieces.nth(1).click()
    reader.expect_link("pos=3", without=("cell=",))
    expect(player.locator("svg.tree")).to_have_count(3)
    # What is done elsewhere ends the playing for good: a step of the piece that played, told late,
    # would be taken for one of the next piece.
    with reader.rerun():
        pieces.nth(0).click()
    player.locator("button.play").click()
    expect(player.locator("li.next .n")).to_have_text("2")  # one merge is done, and not yet told
    pieces.nth(1).click()
    reader.expect_link("pos=3", without=("cell=",))
    reader.page.wait_for_timeout(1_200)  # more than a beat
    reader.calm()
    reader.expect_link("pos=3", without=("cell=",))
    expect(player.locator("li.next .n")).to_have_text("1")
    expect(player.locator("button.play .sign")).to_have_text("▶")


def test_the_next_pair_is_kept_in_sight_where_there_is_no_room_for_all(reader):
    reader.open("/tokens", prompt=" " + "=" * 64, cell=30)
    player = reader.key("merges")
    expect(player.locator(".tree .next")).to_have_count(2)
    for box, marked in ((".trees", ".tree .next"), (".steps", "li.next"), (".now", ".symbol.next")):
        seen = player.locator(box).bounding_box()
        for node in player.locator(marked).all():
            at = node.bounding_box()
            assert seen["x"] <= at["x"] and at["x"] + at["width"] <= seen["x"] + seen["width"]
            assert seen["y"] <= at["y"] and at["y"] + at["height"] <= seen["y"] + seen["height"]
