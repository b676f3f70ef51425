"""Views derived from a trace: they read it and never write to it."""

from .explain import Explanation, explain

__all__ = ["Explanation", "explain"]
