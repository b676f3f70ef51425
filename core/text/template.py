"""Render one chat template: a program of its own, so that whoever starts it can stop it.

A template is somebody else's program. jinja2's sandbox keeps it from Python's internals, but not
from using all the time and memory there is, even in a single step (`'a' * 10**9`); nothing but
another process can be stopped in the middle of that. This one limits itself before it begins:
processor time and address space where the system can (all but Windows), and the length of the text.

Reads a job as JSON on standard input, writes {"text": ...} or {"error": ...}; for a list of jobs a
list of these. Runs alone, without the project on its path. Renders as transformers does: the same
names, filters and extensions.
"""

import contextlib
import json
import signal
import sys
from datetime import datetime

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS = 2  # of processor time
MEMORY = 200 << 20  # bytes of address space, the interpreter included
LONGEST_RESULT = 1_000_000  # characters
LONGEST_REASON = 300


class Generation(Extension):
    """`{% generation %}`: marks what the model wrote, for training. Here its body is plain text."""

    tags = {"generation"}

    def parse(self, parser):
        """The body, with names of its own."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.Scope(body, lineno=line)


def limit():
    """Let the system end this process when it has used its time, and refuse it more memory."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def environment(now: datetime) -> ImmutableSandboxedEnvironment:
    """jinja2 as chat templates expect it. now: what `strftime_now` tells."""
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = now.strftime
    return env


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    """JSON as it is: jinja2's own filter would escape it for web pages."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def refuse(message):
    """What a template calls when the messages are not as it wants them."""
    raise TemplateError(message)


def render(template: str, values: dict, now: datetime) -> str:
    """The text. Raises whatever the template ends in, ValueError for a text that is too long."""
    pieces, length = [], 0
    for piece in environment(now).from_string(template).generate(values):
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_RESULT:
            raise ValueError("its result is too long")
    return "".join(pieces)


def answer(job: dict) -> dict:
    """The job done, or the reason why not."""
    try:
        now = datetime.fromisoformat(job["now"])
        return {"text": render(job["template"], job["values"], now)}
    except MemoryError:
        return {"error": f"it takes more than {MEMORY >> 20} MB"}
    except Exception as error:
        return {"error": str(error)[:LONGEST_REASON] or type(error).__name__}


if __name__ == "__main__":
    job = json.load(sys.stdin)
    limit()
    done = [answer(each) for each in job] if isinstance(job, list) else answer(job)
    json.dump(done, sys.stdout)
