"""All stores of a server together: with the default model and Python itself under 2 GB."""

import importlib
import pkgutil

import core
from core import RunSpec, run
from core.analyse import derived, heads
from core.opening import MODELS
from core.store import ByteStore
from tests.core.conftest import IDS

OTHERS = 850 << 20  # the default model, 513 MB; Python with what it has loaded, and the pages
MOST = 2 << 30


def stores():
    """Every store of core by its object: several modules may name the same one."""
    names = [each.name for each in pkgutil.walk_packages(core.__path__, "core.")]
    rooms = map(importlib.import_module, (name for name in names if "__main__" not in name))
    every = (value for room in rooms for value in vars(room).values())
    return {id(value): value for value in every if isinstance(value, ByteStore)}.values()


def test_all_stores_but_that_of_the_models_stay_under_the_bound_together():
    found = [store for store in stores() if store is not MODELS]
    assert derived.DERIVED in found and len(found) > 5
    assert OTHERS + sum(store.limit for store in found) < MOST


def test_what_is_found_from_a_run_is_kept_under_what_it_depends_on(tiny_name):
    trace, other = (run(RunSpec(tiny_name, ids=IDS[:n])) for n in (6, 7))
    first = heads.attention(trace, 4)
    assert heads.attention(trace, 4) is first
    assert heads.attention(trace, 5) is not first and heads.attention(other, 4) is not first
    assert heads.attention(trace, 4) is first
    before = derived.DERIVED.nbytes
    assert derived.kept(trace, ("of the test", 1), lambda: "made", lambda _: 3) == "made"
    assert derived.kept(trace, ("of the test", 1), lambda: "again", lambda _: 3) == "made"
    assert derived.kept(trace, ("of the test", 2), lambda: "again", lambda _: 3) == "again"
    assert derived.DERIVED.nbytes == before + 6
