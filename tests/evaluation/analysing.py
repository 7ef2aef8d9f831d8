"""What tests of analyses share: the command as called from a terminal, and what it printed and wrote."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command


def analyse(*arguments: str) -> str:
    out = StringIO()
    call_command("analyse", *arguments, stdout=out)
    return out.getvalue()


def figures_of(*arguments: str) -> dict[str, Any]:
    return json.loads(analyse(*arguments, "--json"))


def table_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
