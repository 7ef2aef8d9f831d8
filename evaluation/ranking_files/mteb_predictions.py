"""MTEB's predictions, one file a task, read as a stream.

MTEB 2 writes ``<task>_predictions.json`` into the ``prediction_folder``: ``{"mteb_model_meta": {"model_name": …},
subset: {split: {query: {item: score}}}}``. MTEB 1 wrote ``<task>_<subset>_predictions.json`` with ``save_predictions``:
``{query: {item: score}}``.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from core.errors import CounterpartError, some_of
from core.untrusted import json_events
from counterpart_metrics.listed_queries import ListedQuery

SUFFIX = "_predictions.json"
_META = "mteb_model_meta"
NO_RANKINGS = (
    "MTEB's figures, which have no rankings. Let mteb.evaluate write them, with prediction_folder=FOLDER (before MTEB "
    "2 with save_predictions=True), and pass that folder."
)


def predicted_lists(path: Path, name: str) -> Iterator[ListedQuery]:
    """Yield the list of each query. Raises CounterpartError for scores that are not numbers, and several splits."""
    within: list[str] | None = None
    with path.open("rb") as file:
        for keys, scores in _innermost(file, name):
            if within is not None and keys[:-1] != within:
                splits = some_of([" ".join(within) or "none", " ".join(keys[:-1]) or "none"])
                raise CounterpartError(f"{name} has the lists of several splits: {splits}. Keep those of one.")
            within = keys[:-1]
            yield ListedQuery(keys[-1], list(scores), list(scores.values()))


def model_of(path: Path) -> str:
    """Return the name of the model in a file of predictions, or an empty text."""
    with path.open("rb") as file, suppress(CounterpartError):  # reading it says why
        for place, event, value in json_events(path.name, file):
            if event == "number":
                return ""
            if place == f"{_META}.model_name":
                return str(value)
    return ""


def is_results(path: Path) -> bool:
    """Whether a JSON file has MTEB's figures in place of predictions."""
    with path.open("rb") as file:
        return b'"mteb_version"' in file.read(1 << 12)


def _innermost(file: IO[bytes], name: str) -> Iterator[tuple[list[str], dict[str, float]]]:
    """Yield each object of numbers with the keys that lead to it."""
    keys: list[str] = []
    numbers: dict[str, float] = {}
    for _place, event, value in json_events(name, file):
        if event == "number" and keys:
            numbers[keys[-1]] = value
        elif event == "map_key":
            keys[-1] = value
        elif event == "start_map":
            keys.append("")
        elif event == "end_map":
            keys.pop()
            if numbers:
                yield list(keys), numbers
                numbers = {}
        elif keys[:1] != [_META]:
            raise CounterpartError(
                f"{name} has {value if event == 'string' else event.removeprefix('start_')!r} in place of a score. "
                "MTEB writes {query: {item: score}}; write the predictions again."
            )
