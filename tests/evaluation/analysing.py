"""What tests of analyses share: the command as called from a terminal, and what it printed and wrote."""

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

from tests.commands import output_of

analyse = partial(output_of, "analyse")


def figures_of(*arguments: str) -> dict[str, Any]:
    return json.loads(analyse(*arguments, "--json"))


def table_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def written(folder: Path, *arguments: str) -> list[dict[str, str]]:
    """The rows that an analysis writes as CSV; it draws its chart too."""
    analyse(*arguments, "--csv", folder / "rows.csv", "--plot", folder / "chart.svg")
    assert (folder / "chart.svg").read_text().startswith("<svg")
    return table_of(folder / "rows.csv")
