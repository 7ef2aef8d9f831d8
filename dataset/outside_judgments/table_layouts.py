"""Tables of answers, a row or several pairs a row: what each tool calls its columns, in a row of ``LAYOUTS``.

A plain table has image, caption, answer and perhaps worker by the names of ``corpus.tables``. MTurk and Toloka put
``Input.`` and ``Answer.`` before the names of their columns; forms of MTurk write a column for each option, or JSON.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from core.untrusted import read_json
from corpus.input_files import at, json_records
from corpus.tables import WORKER, columns_of, read_rows
from counterpart_metrics.table_rows import folded
from dataset.outside_judgments.outside_answer import (
    Opening,
    OutsideAnswer,
    Reader,
    list_of,
    record_of,
    seconds_of,
    time_of,
    worker_of,
)

_FORM = "taskAnswers"  # of MTurk: the answers of a form as JSON
_NOT_SUBMITTED = ("expired", "skipped", "active", "returned", "abandoned")
_NO = (False, 0, "0", "false", "no")


class Layout(NamedTuple):
    """What a tool calls the columns of its table.

    ``signs`` are columns by which it is recognised; ``task`` and ``answers`` begin the names of what was shown
    and answered; ``item`` is the column that names image and caption in one. A row is rejected if its ``status`` says
    so, or if a column of ``rejected`` has a text.
    """

    says: str = ""
    signs: tuple[str, ...] = ()
    task: str = ""
    answers: str = ""
    worker: tuple[str, ...] = WORKER
    at: tuple[str, ...] = ("at", "created_at", "submitted_at")
    seconds: tuple[str, ...] = ("seconds", "lead_time")
    item: tuple[str, ...] = ("task", "item", "pair", "instance_id")
    status: tuple[str, ...] = ("status",)
    rejected: tuple[str, ...] = ()


LAYOUTS = {
    "mturk": Layout(
        says="the result CSV of a batch: Input.image_id, Input.caption_id, Answer.level; also several pairs a row",
        signs=("HITId", "WorkerId"),
        task="Input.",
        answers="Answer.",
        at=("SubmitTime",),
        seconds=("WorkTimeInSeconds",),
        status=("AssignmentStatus",),
        rejected=("RejectionTime", "Reject"),
    ),
    "toloka": Layout(
        says="its TSV of assignments: INPUT:image, INPUT:caption, OUTPUT:result",
        signs=("ASSIGNMENT:worker_id",),
        task="INPUT:",
        answers="OUTPUT:",
        worker=("ASSIGNMENT:worker_id",),
        at=("ASSIGNMENT:submitted",),
        status=("ASSIGNMENT:status",),
    ),
    "crowd-kit": Layout(
        says="task, worker, label; a task is the ids of image and caption joined, or an item of --items",
        signs=("task", "worker", "label"),
    ),
    "table": Layout(
        says="any CSV, TSV, JSON lines or Parquet with a column each for image, caption, answer and perhaps worker"
    ),
}
ROWS = Layout(signs=("annotator", "annotation_id", "lead_time"), worker=("annotator",), item=(), status=())
"""Label Studio's CSV, TSV and JSON-MIN."""
_OTHERS = ("id", "updated_at", "annotation_id", "agreement", "history", "simulated", "counted", "hit", "")
_fold = cache(folded)


def is_laid_out(opening: Opening, layout: Layout) -> bool:
    """Whether a file with this beginning has the columns of the layout."""
    return opening.kind != "folder" and {*map(_fold, layout.signs)} <= {*map(_fold, opening.names)}


def read_table(path: Path, opening: Opening, layout: Layout) -> Iterator[OutsideAnswer]:
    """Yield an answer for each row; one that the platform rejected is marked, one that was not submitted is empty."""
    rows: Iterator[tuple[int, Any]] = (
        enumerate(json_records(path), 1)
        if opening.kind == "json"
        else read_rows(path, {name: (name,) for name in columns_of(path)})
    )
    for number, row in rows:
        with at(path, "line", number):
            answer = _answer(record_of(row), layout, f"line {number}")
        yield answer


def _answer(row: Mapping[str, Any], layout: Layout, place: str) -> OutsideAnswer:
    cells = {_fold(name): cell for name, cell in row.items() if cell is not None}

    def cell_of(names: tuple[str, ...]) -> Any:
        return next((cells[_fold(name)] for name in names if _fold(name) in cells), None)

    status = str(cell_of(layout.status) or "").casefold()
    if layout.answers:
        answers = _marked(_after(row, layout.answers))
    else:
        known = {*map(_fold, (*layout.worker, *layout.at, *layout.seconds, *layout.item, *layout.status, *_OTHERS))}
        answers = {name: cell for name, cell in row.items() if _fold(name) not in known}
    return OutsideAnswer(
        place,
        worker_of(cell_of(layout.worker)),
        _after(row, layout.task) | {name: cells[_fold(name)] for name in layout.worker if _fold(name) in cells},
        {} if status in _NOT_SUBMITTED else answers,
        time_of(cell_of(layout.at)),
        seconds_of(cell_of(layout.seconds)),
        simulated=str(cell_of(("simulated",))).casefold() in ("1", "true"),
        item=str(cell_of(layout.item) or ""),
        rejected=status == "rejected" or bool(cell_of(layout.rejected)) or str(cell_of(("counted",))).casefold() in _NO,
    )


def _after(row: Mapping[str, Any], begins: str) -> dict[str, Any]:
    """Return the cells of the columns that begin so, by the rest of their names."""
    return {name[len(begins) :]: cell for name, cell in row.items() if name.startswith(begins) and cell is not None}


def _marked(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to each question, where forms have a column of true and false for each option, or JSON."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        question, _, option = name.rpartition(".")
        if name == _FORM:
            for part in list_of(read_json(cell)):
                found |= record_of(part)
        elif question and str(cell).casefold() in ("true", "false"):
            chosen = found.setdefault(question, [])
            chosen += [option] if str(cell).casefold() == "true" else []
        else:
            found[name] = cell
    return found


def reader_of(name: str) -> Reader:
    """Return how tables of a layout are recognised and read."""
    layout = LAYOUTS[name]
    return Reader(
        lambda opening: bool(layout.signs) and is_laid_out(opening, layout),
        lambda path, opening: read_table(path, opening, layout),
        layout.says,
    )
