"""Chat messages to the text a model was trained on, by the template its file carries.

Knows jinja2's sandbox and how to keep contents literal; no vocabulary beyond the names of special
tokens. A template is somebody else's program: it runs sandboxed, on bounded input, and its output
is bounded.
"""

import re

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.errors import PromptError

LONGEST_TEMPLATE = 64_000  # characters
LONGEST_RESULT = 1_000_000
# What a bad template can end in; RuntimeError: calls that nest too deep
FAULTS = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RuntimeError,
)


def render(template, messages, special, bos_id, tokens) -> list[tuple[str, bool]]:
    """The rendered prompt as pieces (text, is_marker): only markers the template itself wrote are
    markers.

    messages: sequence of (role, content). A typed `<|im_end|>` inside a content stays text: it is
    broken up by a character that no content has before rendering, and mended afterwards.
    """
    if len(template) > LONGEST_TEMPLATE:
        raise PromptError("bad_template", reason=f"it is longer than {LONGEST_TEMPLATE} characters")
    breaker = _unused("".join(role + content for role, content in messages) + template)
    marked = [
        {"role": _break(role, special, breaker), "content": _break(content, special, breaker)}
        for role, content in messages
    ]
    text = _run(template, marked, tokens[bos_id] if bos_id is not None else "")
    markers = "|".join(re.escape(name) for name in sorted(special, key=len, reverse=True))
    pieces = re.split(f"({markers})", text) if markers else [text]
    return [(p.replace(breaker, ""), p in special) for p in pieces if p]


def _unused(text):
    """A private-use character that the text does not contain."""
    used = set(text)
    free = next((chr(c) for c in range(0xF0000, 0x10FFFE) if chr(c) not in used), None)
    if free is None:
        raise PromptError(
            "bad_template", reason="no character is left to protect the contents with"
        )
    return free


def _break(content, special, breaker):
    for name in special:
        content = content.replace(name, name[0] + breaker + name[1:])
    return content


def _run(template, messages, bos_token):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _refuse
    environment.globals.pop("range", None)  # a template needs no loop that its messages do not give
    try:
        stream = environment.from_string(template).generate(
            messages=messages, add_generation_prompt=True, bos_token=bos_token
        )
        return _bounded(stream)
    except FAULTS as error:
        if isinstance(error, PromptError):
            raise
        raise PromptError("bad_template", reason=str(error)) from None


def _bounded(stream):
    text = ""
    for piece in stream:
        text += piece
        if len(text) > LONGEST_RESULT:
            raise PromptError("bad_template", reason="its result is too long")
    return text


def _refuse(message):
    raise PromptError("bad_template", reason=str(message))
