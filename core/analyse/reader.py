"""What an explanation is made of: operands, steps, and the rows of inputs and weights behind them.

Reads one op of a trace, whatever model it is of; no arithmetic, no sentences, no figures.
"""

from dataclasses import dataclass

from core.model.axes import VOCAB_OPS


@dataclass(frozen=True)
class Operand:
    """A number that went in: from an op or a weight (or a table of constants), of a layer, at an
    index. role: the colour of the op. origin: for a constant that is a number of an op, as the
    largest of a row is: that number.
    """

    source: str
    kind: str  # "op", "weight" or "constant"
    layer: int | None
    index: tuple[int, ...]
    value: float
    role: str = ""
    origin: "Operand | None" = None


@dataclass(frozen=True)
class Step:
    """What happens to the sum afterwards: a name, a sign, the number that is used, and the result
    so far. Without a sign the number begins anew.

    size: for a number that is added, the sum of the magnitudes it was itself made from, where that
    is more than its own: rounding goes by it.
    """

    name: str
    sign: str
    value: float
    result: float
    size: float | None = None
    operand: Operand | None = None


class Reader:
    """Rows of inputs and weights of one op in a trace, with the operands they are made of. KeyError
    for an op or layer that the model does not have.

    term: the term of its sum that a reader points at, if any.
    """

    def __init__(self, trace, op, layer, term=None):
        self.trace, self.entry, self.layer = trace, trace.catalogue.op(op, layer), layer
        self.config, self.term = trace.config, term

    def input(self, n=0):
        """Name and layer of the n-th input."""
        name = self.entry.inputs[n]
        return self.trace.stream_source(self.layer) if name == "stream" else (name, self.layer)

    def read(self, n=0):
        """The array of the n-th input."""
        return self.trace.read(*self.input(n))

    def row(self, at, n=0):
        """One row of the n-th input: `at` is its index without the last axis. Scores of the
        vocabulary exist for one position at a time.
        """
        name, _ = self.input(n)
        return self.trace.output(name, *at) if name in VOCAB_OPS else self.read(n)[tuple(at)]

    def weight(self):
        """The array of the op's weight."""
        return self.trace.model.weights.get(self.entry.weights[0], self.layer)

    def bias(self):
        """The array of the op's bias, or None."""
        biases = [self.trace.model.weights.get(name, self.layer) for name in self.entry.biases]
        return biases[0] if biases else None

    def constants(self):
        """What the op's function takes beside arrays of the pass and of the file."""
        return self.trace.constants(self.entry.id, self.layer)

    def operand(self, n, index, value):
        """An operand from the n-th input."""
        name, layer = self.input(n)
        role = self.trace.catalogue.op(name, layer).role
        return Operand(name, "op", layer, index, float(value), role)

    def weight_operand(self, index, value):
        """An operand from the op's weight."""
        return Operand(self.entry.weights[0], "weight", self.layer, index, float(value))

    def bias_operand(self, index):
        """An operand from the op's bias."""
        return Operand(self.entry.biases[0], "weight", self.layer, index, float(self.bias()[index]))
