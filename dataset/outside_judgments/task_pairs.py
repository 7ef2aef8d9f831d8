"""Which image and caption a task shows: by its fields, by its item in a data file, or by their ids joined in one."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from core.errors import some_of
from corpus.input_files import at
from corpus.tables import read_rows
from counterpart_metrics.table_rows import folded
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.outside_judgments.judgment_placing import PAIR
from dataset.outside_judgments.outside_answer import OutsideAnswer, name_of

Pair = tuple[str, str]
Fields = tuple[Sequence[str], Sequence[str]]

ITEM_IDS = ("id", "instance_id", "item_id", "item", "task")
_JOINT = re.compile(r"[^0-9A-Za-z]+")  # between two ids
_AROUND = " ()[]\"'"
_NUMBER = re.compile(r"[\s_.-]*(\d+)(?!.*\d)")  # of one of the pairs of a task: image_id_1, image1_id
_BEFORE = re.compile(r"(input|answer|output)[.:]")  # names of MTurk and Toloka


@cache
def fold(name: str) -> str:
    """Return the name of a field as it is compared."""
    return _BEFORE.sub("", folded(name), count=1)


def cell_of(task: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first of these fields that is not empty; letter case, blanks, - and _ do not count."""
    cells = {fold(name): value for name, value in task.items() if value not in (None, "")}
    return next((cells[fold(name)] for name in names if fold(name) in cells), None)


def parts_of(one: OutsideAnswer, fields: Fields) -> Iterator[OutsideAnswer]:
    """Yield the answer to each pair of a task that shows several, as image_1, caption_1 and level_1 name them."""
    wanted = {fold(name) for side in fields for name in side}
    shown = {number: cells for number, cells in _by_number(one.task).items() if not wanted.isdisjoint(map(fold, cells))}
    given = {
        number: {name: answer for name, answer in cells.items() if fold(name) not in wanted}
        for number, cells in _by_number(one.answers).items()
    }
    if not any(given.get(number) for number in shown):
        yield one
        return
    for number, cells in sorted(shown.items()):
        task = {**one.task, **cells}
        yield one._replace(place=f"{one.place} (pair {number})", task=task, answers=given.get(number, {}), seconds=None)


def _by_number(cells: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for name, cell in cells.items():
        if (number := _NUMBER.search(name)) and cell not in (None, ""):
            found.setdefault(int(number[1][:9]), {})[name[: number.start()] + name[number.end() :]] = cell
    return found


def pair_finder(wanted: JudgmentParameters, items: pd.DataFrame) -> Callable[[OutsideAnswer], Pair]:
    """Return what finds the image and the caption of a task, as the file names them; ``items`` are the round's.

    It raises ValueError for a task that names no pair, or an item that could be several or is not in the data file.
    """
    by_item = _data_file(wanted.items, wanted.pair_fields) if wanted.items else None
    asked = set(items[PAIR].itertuples(index=False, name=None))

    def found(one: OutsideAnswer) -> Pair:
        image, caption = (cell_of(one.task, names) for names in wanted.pair_fields)
        if image is not None and caption is not None:
            return name_of(image, wanted.pair_fields[0][0]), name_of(caption, wanted.pair_fields[1][0])
        if not one.item:
            given, usual = (wanted.image, "image_id") if image is None else (wanted.caption, "caption_id")
            named = given or f"{usual} or the like"
            raise ValueError(f"its task has no {named} but {some_of(sorted(one.task), at_most=10)}")
        if by_item is None:
            return _split(one.item, asked)
        if one.item not in by_item:
            raise ValueError("its item is not in the data file")
        return by_item[one.item]

    return found


def _split(item: str, asked: set[Pair]) -> Pair:
    ends = ((item[: joint.start()], item[joint.end() :]) for joint in _JOINT.finditer(item))
    pairs = asked.intersection((image.strip(_AROUND), caption.strip(_AROUND)) for image, caption in ends)
    if len(pairs) == 1:
        return pairs.pop()
    raise ValueError(
        "its item could be several pairs" if pairs else "its item does not join two ids of the round; use --items"
    )


def _data_file(path: Path, fields: Fields) -> dict[str, Pair]:
    """Read the items of a project: id → image and caption."""
    columns = dict(zip(("id", "image", "caption"), (ITEM_IDS, *map(tuple, fields)), strict=True))
    found: dict[str, Pair] = {}
    for number, row in read_rows(path, columns, required=columns):
        with at(path, "item", number):
            item, image, caption = (name_of(row[name], name) for name in columns)
            if item in found:
                raise ValueError(f"the id {item} is that of an item before")
            found[item] = (image, caption)
    return found
