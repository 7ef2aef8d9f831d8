"""The notebook of docs, run as it is against a live site: its figures are those of the commands."""

import json
import os
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from django.db import connection
from nbclient import NotebookClient

from tests.commands import output_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOK = nbformat.read(DOCS / "from-pictures-to-leaderboard.ipynb", as_version=4)
LAST_CELL = """
for model, rankings in models.items():
    Path(os.environ["TMPDIR"], f"{model}.json").write_text(json.dumps(rankings))
print(json.dumps([counted.verdicts, counted.judgments, both.to_dict(orient="records")]))
"""


def test_it_is_kept_without_what_a_run_printed():
    cells = [cell for cell in NOTEBOOK.cells if cell.cell_type == "code"]
    assert [cell for cell in cells if cell.outputs or cell.execution_count] == []


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "sqlite", reason="names the test's database to a command by its file")
def test_its_figures_are_those_of_the_commands(live_server, token, tmp_path, monkeypatch):
    given = {
        **{"COUNTERPART_URL": live_server.url, "COUNTERPART_TOKEN": token},
        **{"DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}", "VAR_DIR": tmp_path, "REDIS_URL": ""},
        **{"TMPDIR": tmp_path, "IPYTHONDIR": tmp_path, "JUPYTER_RUNTIME_DIR": tmp_path},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    notebook = deepcopy(NOTEBOOK)
    notebook.cells.append(nbformat.v4.new_code_cell(LAST_CELL))
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": DOCS}}).execute()
    verdicts, judgments, board = json.loads(notebook.cells[-1].outputs[0].text)

    counted = json.loads(output_of("aggregate", "shapes-first", "--method", "majority", "--json"))
    assert (counted["pairs"], counted["judgments"]) == (verdicts, judgments)
    rankings = [tmp_path / f"{model}.json" for model in {row["model"] for row in board}]
    scored = json.loads(output_of("evaluate", "--version", "shapes-v1", "--rankings", *rankings, "--json"))
    assert [row for row in board if row["here"] != pytest.approx(row["value"], abs=1e-12)] == []
    shown = {(row["model"], row["direction"], row["metric"]): (row["value"], row["low"], row["high"]) for row in board}
    assert shown == {
        (model, direction, metric): (figure["value"], figure["low"], figure["high"])
        for model, directions in scored.items()
        for direction, metrics in directions.items()
        if direction != "notes"
        for metric, figure in metrics.items()
    }
