"""One op of the walk through a block, around one cell: what its figures and its explanation show.

Small and frozen; made once per run of the page. Knows core; no figures, no sentences.
"""

from dataclasses import dataclass

from core.analyse import Explanation
from core.analyse.reader import Reader
from core.analyse.view import Panel, StepView
from core.model.axes import OP_AXES, TOKEN_AXES
from core.record.catalogue import Op
from core.record.trace import Trace


@dataclass(frozen=True)
class Step:
    """Attributes:
    op: of the catalogue. layer: None for an op outside the blocks.
    head: the chosen query head; position: the chosen token's. Together with the column of
        `view.index` they are the chosen cell.
    view: the op's value, inputs and weights as panels around that cell.
    explained: that cell, computed again.
    together: whether the figures show all positions at once, or the chosen one alone.
    """

    trace: Trace
    op: Op
    layer: int | None
    head: int
    position: int
    view: StepView
    explained: Explanation
    together: bool

    @property
    def id(self) -> str:
        """The op's id."""
        return self.op.id

    @property
    def config(self):
        """The sizes of the model."""
        return self.trace.config

    @property
    def kv_head(self) -> int:
        """The key/value head that the chosen query head reads."""
        return self.head // self.config.group

    @property
    def column(self) -> int:
        """The chosen column: a number of the row, or a key."""
        return self.view.index[-1]

    def read(self, op: str):
        """The recorded value of another op of the same layer, all positions of it."""
        return self.trace.read(op, self.layer)

    def file(self, name: str, *more: str, alone: bool = True) -> str:
        """What a saved table of this step is called: its name, and where its numbers were. more:
        what else it says. alone: whether they are of the chosen position only.
        """
        position = self.position if alone else None
        return _file(name, self.layer, self._head(self.op.axes), position, *more)

    def saved(self, panel: Panel) -> str:
        """What the files of a panel are called: its name, and where its numbers were."""
        layer = self._sources().get(panel.name, self.layer)
        if panel.part == "weight":
            row = (f"row{panel.first_row}",) if panel.rows and panel.n_rows == 1 else ()
            return _file(panel.name, layer, "", None, *row)
        of_one = panel.columns in ("head_dim", "key") and panel.rows not in ("head", "kv_head")
        head = self._head(OP_AXES.get(panel.name, self.op.axes)) if of_one else ""
        position = self.position
        if panel.rows in TOKEN_AXES:
            position = panel.first_row if panel.n_rows == 1 else None
        return _file(panel.name, layer, head, position)

    def _sources(self):
        """The layer of each input: not all are of this one."""
        reader = Reader(self.trace, self.id, self.layer)
        return dict(reader.input(n) for n in range(len(self.op.inputs)))

    def _head(self, axes):
        """The head that such a value is shown of, or nothing."""
        shown = {"head": self.head, "kv_head": self.kv_head}
        return "".join(f"{axis}{n}" for axis, n in shown.items() if axis in axes)


def _file(name, layer, head, position, *more):
    """A name, and the places that there are: attn.k_layer5_kv_head2_pos4."""
    places = ("" if layer is None else f"layer{layer}", head)
    at = "" if position is None else f"pos{position}"
    return "_".join(part for part in (name, *places, at, *more) if part)
