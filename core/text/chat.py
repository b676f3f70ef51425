"""Chat messages to the text a model was trained on, by the template its file carries.

Knows how to keep contents literal, and how to run a template without trusting it; no vocabulary
beyond the names of special tokens. The rendering itself is the program `template`, in a process of
its own.
"""

import functools
import json
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

from core.errors import PromptError

from . import markers

PROGRAM = Path(__file__).with_name("template.py")
LONGEST_TEMPLATE = 64_000  # characters
SECONDS = 2  # of processor time, as the program limits itself
PATIENCE = 10  # seconds by the clock, on a busy machine or one without such limits


def render(template, messages, special, names, literal=True) -> list[tuple[str, bool]]:
    """The rendered prompt as pieces (text, is_marker).

    messages: sequence of (role, content). special: pattern of the markers' names, None without any.
    names: what the template calls some tokens. literal: a marker typed inside a message stays text;
    for the time of rendering a character that no message has stands for it. The clock of templates
    that tell the date stands at midnight: a chat has the same ids all day.
    """
    if len(template) > LONGEST_TEMPLATE:
        raise _bad(f"it is longer than {LONGEST_TEMPLATE} characters")
    typed = {}
    if literal and special:
        everything = "".join(role + content for role, content in messages)
        typed = _stand_ins(special, everything, template + "".join(names.values()))
        messages = [[_swap(special, typed, part) for part in message] for message in messages]
    text = _text(template, json.dumps(messages), json.dumps(names), date.today().isoformat())
    names_by_stand_in = {stand_in: name for name, stand_in in typed.items()}
    back = markers.pattern(names_by_stand_in)
    return [
        (piece if is_marker else _swap(back, names_by_stand_in, piece), is_marker)
        for piece, is_marker in markers.cut(text, special)
    ]


def _stand_ins(special, typed, other):
    """A private-use character for every marker in `typed`; neither text has it."""
    found = sorted(set(special.findall(typed)))
    used = set(typed + other)
    free = [c for c in map(chr, range(0xF0000, 0x10FFFE)) if c not in used] if found else []
    if len(free) < len(found):
        raise _bad("no character is left to protect the contents with")
    return dict(zip(found, free, strict=False))


def _swap(pattern, swaps, text):
    """The text with everything that the pattern finds replaced."""
    return pattern.sub(lambda match: swaps[match[0]], text) if pattern and swaps else text


def _text(template, messages, names, day):
    answer = _answer(template, messages, names, day)
    if "error" in answer:
        raise _bad(answer["error"])
    return answer["text"]


@functools.lru_cache(maxsize=32)
def _answer(template, messages, names, day):
    """What the program answers; kept, since a page asks again at every click. Texts for a key."""
    values = {"bos_token": "", "eos_token": "", "tools": None, "documents": None}
    values |= json.loads(names) | {"add_generation_prompt": True}
    values["messages"] = [
        {"role": role, "content": content} for role, content in json.loads(messages)
    ]
    job = json.dumps({"template": template, "values": values, "now": day})
    done = _start(job)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode == -getattr(signal, "SIGPROF", 0):
        return {"error": f"it takes longer than {SECONDS} seconds"}
    return {"error": "it broke the program that renders it, or took all its memory"}


def _start(job):
    try:
        return subprocess.run(
            [sys.executable, "-I", str(PROGRAM)],
            input=job.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise _bad(f"it takes longer than {SECONDS} seconds") from None
    except OSError as error:
        raise _bad(f"no program could be started to render it ({error.strerror})") from None


def _bad(reason):
    return PromptError("bad_template", reason=re.sub(r"\s+", " ", reason).strip())
