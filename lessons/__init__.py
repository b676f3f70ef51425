"""Every sentence a reader sees, in each language, read from the text files beside this module.

Knows languages, files and placeholders. Knows no model, run, figure or page.
"""

from lessons.loader import LANGUAGES, Lesson, error, fill, op, page, text, view
from lessons.preset import Preset, matching, presets

__all__ = [
    "LANGUAGES",
    "Lesson",
    "Preset",
    "error",
    "fill",
    "matching",
    "op",
    "page",
    "presets",
    "text",
    "view",
]
