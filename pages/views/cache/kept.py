"""What a reader had measured: kept for the session, the newest few. Knows the session only."""

import streamlit as st

MOST = 8  # measurements of one kind


def get(kind: str, key, empty=None):
    """What was measured for this run, or `empty`."""
    return st.session_state.get(f"measured_{kind}", {}).get(key, empty)


def put(kind: str, key, value) -> None:
    """Keep it; the oldest goes."""
    kept = st.session_state.setdefault(f"measured_{kind}", {})
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > MOST:
        del kept[next(iter(kept))]
