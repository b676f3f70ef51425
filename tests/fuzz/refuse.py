"""Opens every file that must be refused, in a process of its own under an address limit.

Usage: python -m tests.fuzz.refuse FOLDER. Prints one JSON object: name of the case -> code of the
error, its sentence, seconds, bytes, what was opened.
"""

import json
import os
import sys
import warnings
from pathlib import Path

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}

from core import open_model  # noqa: E402
from core.errors import TokenwalkError  # noqa: E402
from tests import families, tiny  # noqa: E402
from tests.fuzz.measure import Measured, give_back, limit_address_space  # noqa: E402
from tests.fuzz.refusals import CASES  # noqa: E402


def refusal(path):
    """Code and sentence of what opening the file ends in."""
    try:
        open_model(str(path))
    except TokenwalkError as error:
        return error.code, str(error)
    except BaseException as error:
        return "another exception", repr(error)
    return "opened", ""


def main(folder: Path):
    """All cases, after two good models, so that everything is imported."""
    warnings.simplefilter("error")
    open_model(tiny.build(folder / "good.gguf"))
    open_model(families.build_folder(folder / "good", "llama"))
    out = {}
    for n, (name, (make, *_)) in enumerate(CASES.items()):
        (folder / str(n)).mkdir()
        path = make(folder / str(n))
        give_back()
        with Measured() as took:
            code, sentence = refusal(path)
        out[name] = code, sentence, took.seconds, took.memory, str(path)
    return out


if __name__ == "__main__":
    limit_address_space()
    print(json.dumps(main(Path(sys.argv[1]))))
