"""A tiny random model of every family and of every way to scale rotations, for the tests of core.

Knows which changes of a family's config make a case; the models are written by tests/families.py.
"""

import functools

import pytest

from core import RunSpec, run
from core.files import config, folder
from tests.families import CONFIGS, PHI3_SCALINGS, SCALINGS, build_folder

CASES = {family: (family, {}) for family in CONFIGS}
CASES |= {f"llama {kind}": ("llama", changes) for kind, changes in SCALINGS.items()}
CASES["phi3 longrope"] = ("phi3", PHI3_SCALINGS["longrope"])
CASES["llama biases"] = ("llama", {"attention_bias": True, "mlp_bias": True})
CASES["gpt_neox sequential"] = ("gpt_neox", {"use_parallel_residual": False})
EACH_CASE = pytest.mark.parametrize("case", CASES)
EACH_FAMILY = pytest.mark.parametrize("case", CONFIGS)
# longer than the first training of the scaled ones (64), than every window, and all different
IDS = tuple((37 * i + 5) % 96 for i in range(70))


@pytest.fixture(scope="session")
def name_of(tmp_path_factory):
    """What a RunSpec calls the model of a case; it is written once. More changes of its config may
    be given.
    """
    home = tmp_path_factory.mktemp("families")

    @functools.cache
    def name(case, **more):
        family, changes = CASES[case]
        path = home / "-".join([*case.split(), *map(str, more.values())])
        return build_folder(path, family, **(changes | more))

    return name


@pytest.fixture(scope="session")
def trace_of(name_of):
    """A run of a case over IDS."""
    return lambda case, **spec: run(RunSpec(name_of(case), ids=IDS, **spec))


def places(trace):
    """Every op of a model, with each layer that has it."""
    return [(op, n) for op in trace.catalogue.ids for n in trace.catalogue.layers_with(op)]


@pytest.fixture
def open_folder(tmp_path):
    """The opened folder of a family with some settings changed."""

    def call(family, **changes):
        return folder.read(build_folder(tmp_path / family, family, **changes))

    return call


@pytest.fixture
def described(open_folder):
    """The ModelConfig of such a folder."""
    return lambda family, **changes: config.from_folder(open_folder(family, **changes))
