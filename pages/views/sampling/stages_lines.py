"""The formula of a stage, and below it with the numbers of one token. Formats what core's reasons
say; computes nothing itself.
"""

from html import escape

from core.decode import reasons
from pages.parts import words
from pages.parts.html import number, token

HERE = "sampling.stages"
PENALTIES = ("repetition", "presence", "frequency")
FORMULAS = {  # as HTML
    "repetition": "z′ = z / r (z &gt; 0), z · r (z ≤ 0)",
    "presence": "z′ = z − a (n &gt; 0)",
    "frequency": "z′ = z − n · f",
    "temperature": "z′ = z / T",
    "top_k": "z ≥ z<sub>(k)</sub>",
    "top_p": "P<sub>&lt;v</sub> &lt; p",
    "min_p": "z ≥ max(z) + ln m",
    "typical": "|−ln p − H| ≤ d",
}
ZERO = "z = max(z)"  # of temperature 0
SHIFTED = "z′ = (z − max(z)) / T"  # of one so small that z / T overflows
DIGITS = {"top_p": 6}  # of what is compared, where four say too little


def show(stage, spec, found, fate, name: str) -> str:
    """Both lines as HTML. fate: of the token; name: what it is called."""
    letters = f"<code>{_formula(stage, spec, found)}</code>"
    verdict = _verdict(stage, found, fate)
    own = words.html(f"{HERE}.fate_{verdict}") if verdict else ""
    if verdict not in ("gone", "unseen"):
        own = f"<code>{escape(_numbers(stage, spec, found, fate))}</code> {own}"
    lines = letters, f"{token(name)} {own}"
    return "".join(f'<p class="tw-formula">{line}</p>' for line in lines)


def _formula(stage, spec, found):
    if stage.name == "temperature" and found:
        return ZERO
    return FORMULAS[stage.name] if reasons.shift(stage, spec) is None else SHIFTED


def measure(stage, value: float) -> str:
    """What a filter compares, with as many digits as it takes."""
    return number(value, DIGITS.get(stage.name, 4))


def _verdict(stage, found, fate):
    """What became of the token; nothing to say where its score was changed and none is cut."""
    if fate.gone:
        return "gone"
    if stage.name in PENALTIES and not fate.count:
        return "unseen"
    if found is None and fate.kept:
        return ""
    return "kept" if fate.kept else "cut"


def _numbers(stage, spec, found, fate):
    if found is None:
        return f"{_changed(stage, spec, fate)} = {number(fate.after)}"
    own, bound = measure(stage, fate.measure), number(found.bound)
    if stage.name == "top_p":
        return f"{own} {'<' if fate.measure < found.bound else '≥'} {found.bound:g}"
    if stage.name == "min_p":
        bound = f"{number(found.aside)} + ln {spec.min_p:g} = {bound}"
    if stage.name == "typical":
        away = f"|{number(fate.surprise)} − {number(found.aside)}| = {own}"
        return f"{away} {'≤' if fate.kept else '>'} {bound}"
    return f"{own} {'≥' if fate.measure >= found.bound else '<'} {bound}"


def _changed(stage, spec, fate):
    """How the score came about, of a stage that cuts nothing."""
    score = number(fate.before)
    if stage.name == "repetition":
        return f"{score} {'/' if fate.before > 0 else '·'} {spec.repetition_penalty:g}"
    if stage.name == "presence":
        return f"{score} − {_in_brackets(spec.presence_penalty)}"
    if stage.name == "frequency":
        return f"{score} − {fate.count} · {_in_brackets(spec.frequency_penalty)}"
    if (largest := reasons.shift(stage, spec)) is not None:
        taken = number(largest) if largest >= 0 else f"({number(largest)})"
        score = f"({score} − {taken})"
    return f"{score} / {spec.temperature:g}"


def _in_brackets(value):
    return f"{value:g}" if value >= 0 else f"(−{-value:g})"
