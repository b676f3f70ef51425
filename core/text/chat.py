"""Chat messages to the text a model was trained on, by the template its file carries.

Knows how to keep contents literal, and how to run a template without trusting it; no vocabulary
beyond the names of special tokens. The rendering itself is the program `template`, in a process of
its own.
"""

import contextlib
import json
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

from core.errors import PromptError
from core.store import ByteStore

from . import markers

PROGRAM = Path(__file__).with_name("template.py")
LONGEST_TEMPLATE = 64_000  # characters
SECONDS = 2  # of processor time, as the program limits itself
PATIENCE = 10  # seconds by the clock, on a busy machine or one without such limits
ANSWERS = ByteStore(8 << 20)  # by job, both as JSON: a page asks again at every click


def render(template, messages, special, names, literal=True) -> list[tuple[str, bool]]:
    """The rendered prompt as pieces (text, is_marker).

    messages: sequence of (role, content). special: pattern of the markers' names, None without any.
    names: what the template calls some tokens. literal: a marker typed inside a message stays text;
    for the time of rendering a character that no message has stands for it. The clock of templates
    that tell the date stands at midnight: a chat has the same ids all day.
    """
    job, typed = _job(template, messages, special, names, literal)
    names_by_stand_in = {stand_in: name for name, stand_in in typed.items()}
    back = markers.pattern(names_by_stand_in)
    return [
        (piece if is_marker else _swap(back, names_by_stand_in, piece), is_marker)
        for piece, is_marker in markers.cut(_text(job), special)
    ]


def render_ahead(chats, special, names) -> None:
    """Render several chats, (template, messages, literal) each, in one process: `render` finds
    their texts made. A chat that fails here is left to it.
    """
    with contextlib.suppress(PromptError):
        jobs = [_job(*chat[:2], special, names, chat[2])[0] for chat in chats]
        jobs = [job for job in jobs if job not in ANSWERS]
        done = _start(f"[{','.join(jobs)}]") if len(jobs) > 1 else None
        if done is None or done.returncode:
            return
        answers = dict(zip(jobs, json.loads(done.stdout), strict=True))
        for job in jobs:
            if "text" in answers[job]:  # an error may be about memory that another job has taken
                _kept(job, lambda job: json.dumps(answers[job]))


def _job(template, messages, special, names, literal):
    """What the program is asked, as JSON, and the stand-ins by the markers they stand for."""
    if len(template) > LONGEST_TEMPLATE:
        raise _bad(f"it is longer than {LONGEST_TEMPLATE} characters")
    typed = {}
    if literal and special:
        everything = "".join(role + content for role, content in messages)
        typed = _stand_ins(special, everything, template + "".join(names.values()))
        messages = [[_swap(special, typed, part) for part in message] for message in messages]
    values = {"bos_token": "", "eos_token": "", "tools": None, "documents": None}
    values |= names | {"add_generation_prompt": True}
    values["messages"] = [{"role": role, "content": content} for role, content in messages]
    job = {"template": template, "values": values, "now": date.today().isoformat()}
    return json.dumps(job), typed


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


def _kept(job, make):
    """The answer to a job, made by `make(job)` if it is not known."""
    return ANSWERS.get(job, lambda: make(job), lambda answer: len(job) + len(answer))


def _text(job):
    answer = json.loads(_kept(job, _answer))
    if "error" in answer:
        raise _bad(answer["error"])
    return answer["text"]


def _answer(job):
    """What the program answers to a job, both as JSON."""
    done = _start(job)
    if done.returncode == 0:
        return done.stdout.decode()
    reason = "it broke the program that renders it, or took all its memory"
    if done.returncode == -getattr(signal, "SIGPROF", 0):
        reason = f"it takes longer than {SECONDS} seconds"
    return json.dumps({"error": reason})


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
