"""Arrays of a view as one .npz file, with what they are about. Knows arrays and a trace; writes no
file.
"""

import io
import json

import numpy as np


def npz(trace, arrays: dict) -> bytes:
    """The bytes of a NumPy archive: the arrays by name, and besides `ids`, `tokens` and `about`,
    JSON that says which model and run they are of. Holds nothing that would have to be unpickled.
    """
    source = trace.model.source
    about = {"program": "tokenwalk", "model_file": source.path.name}
    about |= {"model_sha256": source.sha256, "edits": [str(edit) for edit in trace.spec.edits]}
    own = {"ids": trace.ids, "tokens": trace.tokens, "about": json.dumps(about)}
    found, file = {name: np.asarray(each) for name, each in {**own, **arrays}.items()}, io.BytesIO()
    if unsafe := [name for name, each in found.items() if each.dtype.hasobject]:
        raise TypeError(f"not plain arrays: {', '.join(unsafe)}")
    np.savez_compressed(file, **found)
    return file.getvalue()
