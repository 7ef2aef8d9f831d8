"""Figures of rankings on the named benchmarks: measured by a job, stored with it, shown on its page."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from console.uploads import Files, upload_job
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.models import Job
from core.work.jobs import JobProgress
from counterpart_metrics.figures import Figure
from evaluation.scores.benchmark_scores import evaluate_benchmarks
from evaluation.scores.board_tables import figures_of
from evaluation.scores.boards import LABELS, Board, Cell, Column, Row
from evaluation.scores.evaluate_parameters import EvaluateParameters
from mitl.models import Retrieval
from mitl.search.gallery import rankings_of


@upload_job("console.tasks.measure_rankings", needs=("hits.launch_round",))
def measure_rankings(job: Job, files: Files, progress: JobProgress) -> str:
    """Score the uploaded rankings, or the lists of a search, and store the figures."""
    params = job.params
    with _rankings(params, files) as (path, model):
        parameters = EvaluateParameters(model=model, categories=files.get("categories"))
        board = evaluate_benchmarks(params["benchmarks"], [path], parameters, progress=progress)
    write_json(figures_path(job), figures_of(board))
    return f"{board.rows[0].model} is measured on {', '.join(params['benchmarks'])}."


def stored_boards(job: Job) -> dict[str, Board]:
    """Return the board of each benchmark; an empty list before they were measured."""
    stored = read_json(figures_path(job))
    if stored is None:
        return {}
    ((model, figures),) = stored.items()
    notes = figures.pop("notes")
    return {name: _board(name, model, parts, notes) for name, parts in figures.items()}


@contextmanager
def _rankings(params: dict[str, Any], files: Files) -> Iterator[tuple[Path, str]]:
    """Give the file of rankings and the model's name."""
    if "rankings" in files:
        yield files["rankings"], params["model"]
        return
    retrieval = Retrieval.objects.select_related("annotator", "collection").filter(pk=params["retrieval"]).first()
    if retrieval is None:
        raise CounterpartError("This search was removed. Choose another one.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{retrieval.annotator}.json"
        path.write_text(json.dumps(rankings_of(retrieval)))
        yield path, params["model"]


def _board(name: str, model: str, parts: dict[str, Any], notes: list[str]) -> Board:
    cells = {
        Column(part, metric): Cell(
            Figure(_number(one["value"]), _number(one["low"]), _number(one["high"]), one["queries"]),
            estimand=f"matches of {name}",  # every figure on a benchmark is counted
        )
        for part in LABELS
        for metric, one in parts.get(part, {}).items()
    }
    return Board(list(cells), [Row(model, cells, notes=notes)])


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def figures_path(job: Job) -> str:
    """Return where the figures of a job are in the storage, once it has measured them."""
    return f"benchmarks/{job.pk}.json"
