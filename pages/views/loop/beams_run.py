"""Long computations, one step at a time: who stops, or clicks elsewhere, loses nothing of what is
done. What is finished is kept for everybody, what is under way for the reader. Knows the session;
no search by name.
"""

from dataclasses import dataclass, field

import streamlit as st

from core.store import ByteStore
from pages.parts import run

STEP_BYTES = 12_000  # of a level of 18 branches, which is the largest step
DONE = ByteStore(8 << 20)


@dataclass
class Job:
    """A computation under way. key: what it is of. steps: an iterator. found: what it gave."""

    key: tuple
    steps: object
    found: list = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """What a computation gave so far, and whether that is all."""

    steps: tuple
    whole: bool


def so_far(name: str, key: tuple) -> Found:
    """What is there without computing. name: one computation of each is under way at most."""
    done = DONE.get(key, lambda: None, _nbytes)
    if done is not None:
        return Found(done, True)
    job = _jobs().get(name)
    return Found(tuple(job.found) if job and job.key == key else (), False)


def step(name: str, key: tuple, begin) -> bool:
    """One step more; whether there was one. begin() -> the iterator, where none is under way."""
    job = _jobs().get(name)
    if not job or job.key != key:
        job = _jobs()[name] = Job(key, begin())
    made = run.compute(next, job.steps, None)
    if made is not None:
        job.found.append(made)
        return True
    DONE.get(key, lambda: tuple(job.found), _nbytes)
    _jobs().pop(name)
    return False


def _nbytes(found):
    """What is not there is too large to be kept."""
    return DONE.limit + 1 if found is None else STEP_BYTES * len(found)


def _jobs():
    return st.session_state.setdefault("beams_jobs", {})
