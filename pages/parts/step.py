"""One op of the walk through a block, around one cell: what its figures and its explanation show.

Small and frozen; made once per run of the page. Knows core; no figures, no sentences.
"""

from dataclasses import dataclass

from core.analyse import Explanation
from core.analyse.view import StepView
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
