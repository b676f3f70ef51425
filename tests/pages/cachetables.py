"""What the pages about the cache share in their tests: numbers of a figure, cells of a table."""

import base64
import re

import numpy as np

from tests.pages import reader


def number_list(values) -> list[float]:
    """Numbers of a Plotly figure, which may be packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return list(values)


def rows(app) -> list[list[str]]:
    """The cells of the page's only table, by row."""
    (table,) = (part for part in reader.html(app) if "<table" in part)
    return [
        [reader.plain(cell) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in table.split("<tr>")[2:]
    ]
