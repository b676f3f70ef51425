"""Texts that a browser follows while they are written, token by token, without a run of the page.

A page leaves a ticket; the figure that shows the text asks with it for what comes. Knows core's
writer, the session and the words of an event stream (HTML standard, server-sent events); no
request.
"""

import asyncio
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass

import streamlit as st

from core import open_model
from core.analyse.written import speed
from core.decode import background
from core.errors import TokenwalkError
from core.spec import RunSpec
from pages.parts import html

PATH = "/written"  # where app.py hands out what comes
ASK_SECONDS = 1.0  # between two looks, which keep the writer at it
POLL_SECONDS = 0.1  # between two glances at what has come: each costs the browser a picture
LASTS_SECONDS = 2.0  # of one answer; the browser asks again, and a server that ends need not wait
AGAIN_MS = 50  # after which it asks
MOST = 500  # tickets; whoever has lost his runs the page again


@dataclass(frozen=True)
class Ticket:
    """What is followed: the first n tokens of the continuation of a spec, as `background.look`."""

    spec: RunSpec
    n: int
    again: int


_TICKETS: OrderedDict[str, Ticket] = OrderedDict()
_LOCK = threading.Lock()


def address(key: str, spec: RunSpec, n: int, again: int, first: int) -> str:
    """Where the figure of this key finds the tokens from number `first` on; what it followed before
    ends.
    """
    name, mine = secrets.token_urlsafe(16), _mine()
    with _LOCK:
        _TICKETS.pop(mine.get(key), None)
        _TICKETS[name] = Ticket(spec, n, again)
        while len(_TICKETS) > MOST:
            _TICKETS.popitem(last=False)
    mine[key] = name
    return f"{PATH}/{name}?first={first}"


def end() -> None:
    """The reader follows nothing any more."""
    with _LOCK:
        for name in _mine().values():
            _TICKETS.pop(name, None)
    _mine().clear()


def _mine():
    return st.session_state.setdefault("followed", {})


def ticket(name: str) -> Ticket | None:
    """The ticket of an address, unless it has ended."""
    with _LOCK:
        return _TICKETS.get(name)


# ---- the stream ----------------------------------------------------------------------------------


async def stream(name: str, first: int) -> AsyncIterator[str]:
    """The tokens of a ticket from number `first` on, each as an event as soon as it has come; then
    the event "whole", or nothing where the time of one answer is over or the ticket has ended.
    """
    yield f"retry: {AGAIN_MS}\n\n"
    begun, asked = time.monotonic(), -ASK_SECONDS
    while (wanted := ticket(name)) and (now := time.monotonic()) - begun < LASTS_SECONDS:
        if now - asked >= ASK_SECONDS:
            found, asked = await asyncio.to_thread(_look, wanted), now
        whole = not found or found.has(wanted.n)  # before they are counted: all are sent then
        stop = min(len(found.tokens), wanted.n) if found else 0
        for number in range(first, stop):
            yield _event(number, token(open_model(wanted.spec.model).tokenizer, found, number))
        first = max(first, stop)
        if whole:
            yield "event: whole\ndata: .\n\n"  # one without data is dropped
            return
        await asyncio.sleep(POLL_SECONDS)


def _look(wanted):
    """The continuation; None where there is none, which the page will explain."""
    try:
        return background.look(wanted.spec, wanted.n, again=wanted.again)
    except TokenwalkError:
        return None


def _event(number, data):
    return f"id: {number + 1}\ndata: {json.dumps(data)}\n\n"  # the id is where to go on


# ---- a token -------------------------------------------------------------------------------------


def token(tokenizer, found, number: int) -> dict:
    """What the figure needs to show token `number` of a continuation."""
    one = found.tokens[number]
    return {
        "number": number,
        "token": piece(tokenizer, one.id),
        "id": one.id,
        "prob": one.prob,
        "special": one.id in tokenizer.special.values(),
        "values": values(found.tokens[: number + 1]),
    }


def values(tokens) -> dict[str, str]:
    """What a text has cost so far, by name."""
    last = tokens[-1].event
    return {
        "n": f"{len(tokens):,}",
        "speed": f"{speed(tokens):.1f}",
        "first": html.number(tokens[0].took, 2),
        "positions": f"{last.n_cached:,}",
        "size": f"{last.cache_bytes / 1024:,.0f}",
    }


def piece(tokenizer, id: int) -> str:
    """A token in a running text: its spaces as such, unless it has nothing else; a line's end ends
    the line.
    """
    shown = tokenizer.display(id)
    spaced = shown.replace("␣", " ") if shown.strip("␣") else shown
    return spaced.replace("⏎", "⏎\n")
