"""Long computations, one step at a time: who stops, or clicks elsewhere, loses nothing of what is
done. What is finished is kept for everybody, what is under way for the reader: its steps in the
session, its iterator in a bounded store. One that has had to go runs through its steps again, which
are the same. Knows the session; no search by name.
"""

import itertools
from dataclasses import dataclass, field

import streamlit as st

from core.store import ByteStore
from pages.parts import run

STEP_BYTES = 12_000  # of a level of 18 branches, which is the largest step
DONE = ByteStore(8 << 20)
WAITING = ByteStore(48 << 20)  # iterators with their caches, by the token of their job


@dataclass
class Job:
    """A computation under way. key: what it is of. found: what it gave. token: of its iterator."""

    key: tuple
    found: list = field(default_factory=list)
    token: object = field(default_factory=object)


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


def step(name: str, key: tuple, begin, n_bytes: int, failed) -> bool:
    """One step more; whether there was one. begin() -> the iterator, where none is under way; it
    holds up to n_bytes. failed() is called before the sentence that says why there is none.
    """
    jobs = _jobs()  # now: after st.stop the session stops whoever asks it
    job = jobs.get(name)
    if not job or job.key != key:
        _end(jobs, name)
        job = jobs[name] = Job(key)
    try:
        made = run.compute(_next, job, begin, n_bytes, heading=failed)
    except BaseException:  # its iterator is dead, and would say that this was all
        _end(jobs, name)
        raise
    if made is not None:
        job.found.append(made)
        return True
    DONE.get(key, lambda: tuple(job.found), _nbytes)
    _end(jobs, name)
    return False


def _next(job, begin, n_bytes):
    """The next step of a job, or None."""

    def again():
        return itertools.islice(begin(), len(job.found), None)

    return next(WAITING.get(job.token, again, lambda _: n_bytes), None)


def _end(jobs, name):
    job = jobs.pop(name, None)
    if job:
        WAITING.drop(job.token)


def _nbytes(found):
    """What is not there is too large to be kept."""
    return DONE.limit + 1 if found is None else STEP_BYTES * len(found)


def _jobs():
    return st.session_state.setdefault("beams_jobs", {})
