"""What decides a run: a frozen RunSpec of plain values, checked when it is made.

Knows which values make sense; no model, no files.
"""

import math
from dataclasses import dataclass, field

from core.errors import SettingError
from core.model.tap import Edit

ORDERS = ("transformers", "llama.cpp")  # of what is done to the scores: core.decode.sampling


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run; hashable, plain values, fits in a link. Give exactly one of prompt,
    messages, ids.

    messages: [{"role": "user", "content": "Hi"}, ...] or pairs. temperature 0 is greedy; top_k 0,
    top_p 1, min_p 0, typical_p 1, repetition_penalty 1, presence_penalty 0 and frequency_penalty 0
    switch those steps off; top_p 0 keeps the most probable token alone. order: whose order of these
    steps, one of ORDERS. control: whether special markers typed in the text (`<|im_end|>`) become
    control tokens; they stay text by default. first_step: tokens generated before these ids end,
    for going on in the middle of another run: its draws are then those the run would have made
    there. Raises SettingError for a bad setting.
    """

    model: str
    prompt: str | None = None
    messages: tuple[tuple[str, str], ...] | None = None
    ids: tuple[int, ...] | None = None
    max_new_tokens: int = 40
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    edits: tuple[Edit, ...] = field(default=())
    control: bool = False
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    typical_p: float = 1.0
    order: str = "transformers"
    first_step: int = 0

    def __post_init__(self):
        n = sum(x is not None for x in (self.prompt, self.messages, self.ids))
        if n != 1:
            raise SettingError("one_input", n=n)
        for name in ("messages", "ids", "edits"):
            if name == "edits" or getattr(self, name) is not None:
                object.__setattr__(self, name, _tuple(name, getattr(self, name)))
        if self.messages is not None:
            object.__setattr__(self, "messages", tuple(map(_pair, self.messages)))
        self._check_kinds()
        self._check_settings()

    def _check_kinds(self):
        _check_kind("model", self.model, str, "a name or a path")
        _check_kind("prompt", self.prompt, (str, type(None)), "a text")
        _check_kind("control", self.control, bool, "True or False")
        for edit in self.edits:
            _check_kind("edits", edit, Edit, "a list of Edit")
        if self.order not in ORDERS:
            _refuse("order", " or ".join(ORDERS), self.order)

    def _check_settings(self):
        _check("max_new_tokens", self.max_new_tokens, int, 1, 1 << 20)
        _check("temperature", self.temperature, float, 0, math.inf)
        _check("top_k", self.top_k, int, 0, 1 << 30)
        _check("top_p", self.top_p, float, 0, 1)
        _check("min_p", self.min_p, float, 0, 1)
        _check("repetition_penalty", self.repetition_penalty, float, 1e-6, 1e6)
        _check("presence_penalty", self.presence_penalty, float, -100, 100)
        _check("frequency_penalty", self.frequency_penalty, float, -100, 100)
        _check("typical_p", self.typical_p, float, 1e-6, 1)
        _check("seed", self.seed, int, 0, 2**63)
        _check("first_step", self.first_step, int, 0, 1 << 20)


def _tuple(name, values):
    try:
        return tuple(values)
    except TypeError:
        _check_kind(name, values, tuple, "a list")


def _check_kind(name, value, kind, wanted):
    if not isinstance(value, kind):
        _refuse(name, wanted, value)


def _refuse(name, wanted, value):
    raise SettingError("bad_setting", name=name, wanted=wanted, value=repr(value)[:80])


def _check(name, value, kind, low, high):
    """A finite number of the right kind (a whole one may stand for a float) within its bounds."""
    right = isinstance(value, (int, float) if kind is float else int) and not isinstance(
        value, bool
    )
    if not right or not math.isfinite(value) or not low <= value <= high:
        wanted = ("a whole number" if kind is int else "a number") + f", at least {low}"
        wanted += f" and at most {high}" if math.isfinite(high) else ""
        _refuse(name, wanted, value)


def _pair(message):
    if isinstance(message, dict):
        message = message.get("role"), message.get("content")
    pair = tuple(message) if isinstance(message, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise SettingError("bad_message", value=repr(message)[:80])
    return pair
