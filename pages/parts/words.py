"""The sentences of the chosen language. Knows lessons and the session; holds no sentence itself."""

import lessons
from pages.parts import session
from pages.parts.html import rich, show


def text(key: str, /, **values) -> str:
    """A short plain text from ui.toml: for widget labels and figure labels. Never give it prompt
    text.
    """
    return lessons.text(session.language(), key, **values)


def html(key: str, /, **values) -> str:
    """A short text from ui.toml as HTML, its values escaped: may hold prompt text."""
    blank = {name: f"[[{name}]]" for name in values}
    return rich(lessons.text(session.language(), key, **blank), **values)


def heading(key: str, /, **values) -> None:
    """Show a short text as the name of a figure."""
    show(f'<p class="tw-panel-name">{html(key, **values)}</p>')


def caption(key: str, /, **values) -> None:
    """Show a short text as a line below a name, in small letters."""
    show(f'<p class="tw-caption">{html(key, **values)}</p>')


def op(op, *tags: str) -> lessons.Lesson:
    """The lesson of an op of the catalogue, as it is true for its model and layer. tags: "together"
    where the figures show all positions.
    """
    return lessons.op(session.language(), op.id, op.tags | {*tags})


def page(name: str, ops=()) -> lessons.Lesson:
    """The lesson of a page, as it is true for the ops that the page shows."""
    tags = frozenset().union(*(op.tags for op in ops))
    return lessons.page(session.language(), name, tags)


def view(page: str, name: str | None, tags=()) -> lessons.Lesson:
    """The lesson of a view of a page, or (None) of the page, as it is true for these tags."""
    if name is None:
        return lessons.page(session.language(), page, tags)
    return lessons.view(session.language(), f"{page}.{name}", tags)


def error(error) -> str:
    """The sentence for one of core's errors, as HTML."""
    blank = {name: f"[[{name}]]" for name in error.params}
    return rich(lessons.error(session.language(), error.code, **blank), **error.params)


def short(op_id: str) -> str:
    """An op's name in a diagram or on a button."""
    return text(f"ops.{op_id}")


def table(prefix: str, *names: str) -> dict[str, str]:
    """Several texts below one heading, by name: for components that take translated labels."""
    return {name: text(f"{prefix}.{name}") for name in names}
