"""The store: a bound in bytes, least recently used first out, one make per key."""

import threading

import pytest

from core.store import ByteStore


def put(store, key, size=1):
    return store.get(key, lambda: f"made {key}", lambda value: size)


def never():
    raise AssertionError("made again")


def test_keeps_within_the_bound_and_drops_the_least_recently_used():
    store = ByteStore(3)
    for key in "abc":
        put(store, key)
    assert store.get("a", never, len) == "made a"  # now b is the oldest
    put(store, "d")
    assert store.nbytes == 3 and "a" in store and "b" not in store
    for key in "acd":
        store.get(key, never, len)
    with pytest.raises(AssertionError):
        store.get("b", never, len)


def test_a_large_value_pushes_out_several_and_too_large_a_one_is_not_kept():
    store = ByteStore(4)
    for key in "abc":
        put(store, key)
    put(store, "big", 3)
    assert store.nbytes == 4 and store.get("c", never, len)
    assert put(store, "huge", 5) == "made huge"
    assert store.nbytes == 4 and store.get("big", never, len)
    with pytest.raises(AssertionError):
        store.get("huge", never, len)


def test_clear_forgets_everything():
    store = ByteStore(4)
    put(store, "a", 4)
    store.clear()
    assert store.nbytes == 0
    with pytest.raises(AssertionError):
        store.get("a", never, len)


def test_eight_threads_make_a_key_once():
    store, made, ready, results = ByteStore(10), [], threading.Barrier(8), []
    slow = threading.Event()

    def make():
        made.append(threading.get_ident())
        slow.wait(0.05)  # time for the others to arrive
        return object()

    def ask():
        ready.wait()
        results.append(store.get("key", make, lambda value: 1))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(made) == 1 and len(results) == 8 and len(set(map(id, results))) == 1


def test_two_keys_are_made_at_the_same_time():
    store, both = ByteStore(10), threading.Barrier(2, timeout=5)

    def ask(key):
        store.get(key, both.wait, lambda value: 1)  # breaks if one has to wait for the other

    threads = [threading.Thread(target=ask, args=(key,)) for key in "ab"]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not both.broken and store.nbytes == 2


def test_a_make_that_fails_locks_nothing_and_leaves_nothing():
    store = ByteStore(10)
    for _ in range(2):
        with pytest.raises(AssertionError):
            store.get("a", never, len)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(put(store, "a")), daemon=True)
    thread.start()
    thread.join(5)
    assert answers == ["made a"]
    assert not store._making and store.nbytes == 1


def test_a_key_that_is_made_while_it_is_being_made_counts_once():
    store = ByteStore(10)

    def make():  # what a second thread can do when the key was pushed out in between
        store._keep("a", "inner", 3)
        return "outer"

    store.get("a", make, lambda value: 3)
    assert store.nbytes == 3


def test_one_value_can_be_dropped_and_one_that_is_not_there_is_no_matter():
    store = ByteStore(10)
    put(store, "a"), put(store, "b")
    for _ in range(2):
        store.drop("a")
    assert "a" not in store and "b" in store and store.nbytes == 1
