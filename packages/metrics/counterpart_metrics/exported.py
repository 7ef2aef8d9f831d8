"""A version as the site exported it, in the format ``eccv-json`` or ``qrels``."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS, SIDES, Qrels
from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.ids import Ids, OpenKeys
from counterpart_metrics.text_files import read_text

Judged = Mapping[str, Mapping[str, float]]
"""Query → item → gain: 1 a match, 0.5 a partial one of graded labels, 0 judged and no match."""

_NAME = re.compile(rf"(.+)_({'|'.join(SIDES.values())})((?:_(?:strict|lenient|graded))?\.(?:json|qrels))")


def is_scored_on(name: str) -> bool:
    """Whether a file of this name has the matches of one direction."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class ExportedVersion:
    """The judgments of a version by direction; ids are texts."""

    name: str
    judged: Mapping[str, Judged]

    @classmethod
    def read(cls, path: str | Path) -> "ExportedVersion":
        """Read the one export of positives in a folder; or that of the file, with the file of the other direction.

        Raises CounterpartError for a place without such an export, a folder with several, files of another content,
        and an export without a match.
        """
        path = Path(path)
        folder = path if path.is_dir() else path.parent
        exports: dict[tuple[str, str], dict[str, Path]] = {}
        for file in sorted(folder.glob("*")):
            if found := _NAME.fullmatch(file.name):
                exports.setdefault((found[1], found[3]), {})[found[2]] = file
        if path != folder:
            exports = {key: files for key, files in exports.items() if path in files.values()}
        if not exports:
            raise CounterpartError(
                f"{path} is not an export to score on: it has no <version>_image_to_caption.json or .qrels. Export the "
                "version as eccv-json or qrels."
            )
        if len(exports) > 1:
            names = [next(iter(files.values())).name for files in exports.values()]
            raise CounterpartError(f"{path} holds {len(exports)} exports. Name a file of one: {some_of(names)}.")
        (((name, _), files),) = exports.items()
        judged = {direction: _read(files[side]) for direction, side in SIDES.items() if side in files}
        if not any(gain > 0 for lists in judged.values() for items in lists.values() for gain in items.values()):
            raise CounterpartError(f"{path} holds no match, so that nothing can be scored on it. Export it again.")
        return cls(name, judged)

    def ids(self) -> Ids:
        """Return the ids of images and of captions that are known; an export does not contain the whole gallery."""
        sides: tuple[list[str], list[str]] = ([], [])
        for direction, lists in self.judged.items():
            asking, listed = sides if direction == "i2t" else sides[::-1]
            asking.extend(lists)
            for items in lists.values():
                listed.extend(items)
        return Ids(OpenKeys(sides[0]), OpenKeys(sides[1]))

    def qrels(self, ids: Ids) -> dict[str, Qrels]:
        """Return the judgments by direction, with the numbers of ``ids``."""
        found = {}
        for direction in filter(self.judged.__contains__, DIRECTIONS):
            lists = self.judged[direction]
            queries, items = (
                keys.find(np.array(texts, object))
                for keys, texts in zip(
                    ids.of(direction),
                    ([one for one, of in lists.items() for _ in of], [one for of in lists.values() for one in of]),
                    strict=True,
                )
            )
            found[direction] = Qrels.of_pairs(queries, items, [gain for of in lists.values() for gain in of.values()])
        return found


def _read(file: Path) -> Judged:
    try:
        text = read_text(file)
        return _of_json(file, text) if file.suffix == ".json" else _of_qrels(file, text)
    except OSError as error:
        raise CounterpartError(f"Cannot read {file}: {error.strerror or error}.") from error


def _of_json(file: Path, text: str) -> Judged:
    try:
        lists = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CounterpartError(f"{file.name} is not valid JSON ({error}). Export it again.") from error
    if not isinstance(lists, dict) or not all(
        isinstance(items, list) and all(type(item) in (int, str) for item in items) for items in lists.values()
    ):
        raise CounterpartError(f"{file.name} is not an object of query: [items]. Export it as eccv-json again.")
    return {query: dict.fromkeys(map(str, items), 1.0) for query, items in lists.items()}


def _of_qrels(file: Path, text: str) -> Judged:
    full = 2 if file.stem.endswith("_graded") else 1
    judged: dict[str, dict[str, float]] = {}
    for query, item, label in _qrels_rows(file, text, full):
        judged.setdefault(query, {})[item] = label / full
    return judged


def _qrels_rows(file: Path, text: str, full: int) -> Iterator[tuple[str, str, int]]:
    known: set[tuple[str, str]] = set()
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) != 4 or fields[3] not in map(str, range(full + 1)):
            raise CounterpartError(
                f"{file.name}, line {number}: not a line query 0 item label with a label from 0 to {full}. Export it "
                "again."
            )
        if (pair := (fields[0], fields[2])) in known:
            raise CounterpartError(f"{file.name}, line {number}: {fields[0]} and {fields[2]} have a label twice.")
        known.add(pair)
        yield *pair, int(fields[3])
