"""The same run with one head switched off: what the head looked at is fetched no more, at any
position. Knows runs and edits; no figures.
"""

import dataclasses

from core.model.tap import Edit
from core.run import run


def muted(trace, layer: int, head: int):
    """The Trace of the same ids with a head's slice of the mix set to zero at all positions, beside
    what was edited before.
    """
    edit = Edit("attn.mix", layer=layer, head=head)
    edits = (*(each for each in trace.spec.edits if each != edit), edit)
    return run(dataclasses.replace(trace.spec, edits=edits))
