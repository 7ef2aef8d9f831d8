"""Ranking files: a model's rankings with the collection's (or COCO's) ids, read in blocks.

| file | content |
|---|---|
| ``.json`` | ``{"i2t": {image: [captions, best first]}, "t2i": {caption: [images, best first]}}`` |
| ``.npz`` | ``i2t_queries`` (Q,), ``i2t_items`` (Q, depth) and perhaps ``i2t_scores`` (Q, depth); |
|  | the same with ``t2i``. A shorter list ends in -1, or in empty texts |
| ``.run`` ``.trec`` ``.txt`` | a TREC run, ``query Q0 item rank score tag``; the lines of a query follow each other |
| ``.parquet`` | a row a query: ``direction`` (i2t, t2i), ``query``, ``items`` (a list), perhaps ``scores`` (a list); |
|  | or a table as Hugging Face's ``datasets`` writes (``dataset_lists``), of one direction |
| ``.csv`` ``.tsv`` ``.parquet`` | a row an entry: ``query``, ``item``, ``score`` or ``rank``, perhaps ``direction`` |

Ids are compared as text; one direction is enough. A TREC run is ordered by its scores, then by its lines, and a table
of entries too, without scores by its ranks. The direction of the queries follows from the ids: a query takes the one
that all of its lines fit, also where an image and a caption share an id and have a list each. ``i2t`` or ``t2i`` in the
file's name decides for the whole file, which is needed where a list fits both directions.

A TREC file or a table of entries is never whole in memory, however many queries it has, nor is Parquet with directions.
Of an ``.npz`` one array at a time is; JSON and tables of ``datasets`` are read whole.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from counterpart_metrics.array_lists import read_npz
from counterpart_metrics.arrays import DIRECTIONS, Integers
from counterpart_metrics.errors import CounterpartError, counted, some_of
from counterpart_metrics.ids import Ids
from counterpart_metrics.json_lists import read_json
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.ranking_tables import read_table
from counterpart_metrics.trec_runs import read_run

Reader = Callable[[Path, str, Ids], Iterator[Block]]
Progress = Callable[[str, int, int | None], None]


def _read_parquet(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    try:
        from counterpart_metrics.parquet_lists import read_parquet
    except ImportError as error:
        raise CounterpartError(f"{name} is Parquet. Run pip install counterpart-metrics[parquet].") from error
    yield from read_parquet(path, name, ids)


READERS: Mapping[str, Reader] = {
    ".json": read_json,
    ".npz": read_npz,
    ".parquet": _read_parquet,
    **dict.fromkeys((".csv", ".tsv"), read_table),
    **dict.fromkeys((".run", ".trec", ".txt"), read_run),
}


def stream_rankings(
    path: Path, ids: Ids, *, name: str = "", progress: Progress | None = None, readers: Mapping[str, Reader] = READERS
) -> Iterator[Block]:
    """Yield the rankings of a file, some queries at a time, their queries ascending within a block.

    Args:
        name: name of the file, whose suffix determines the form; that of ``path`` by default.
        progress: called with ``rankings``, the number of queries that were read, and None.
        readers: the reader of each form, by its suffix.

    Raises:
        CounterpartError: if it is not a file, for an unknown suffix, malformed content, ids outside the gallery,
            queries that are ranked twice, and a file without rankings. It names the file, and the line or query.
    """
    name = name or path.name
    check_form(path, name, readers)
    seen = _Seen(name)
    try:
        for block in readers[Path(name).suffix.lower()](path, name, ids):
            seen.add(block)
            if progress:
                progress("rankings", seen.queries, None)
            yield block
    except OSError as error:
        raise CounterpartError(f"Cannot read the rankings {name}: {error.strerror or error}.") from error
    if not seen.queries:
        named = (
            f" of the collection: {some_of(list(ids.left_out))}. Use its ids."
            if ids.left_out
            else ". Write them again."
        )
        raise CounterpartError(f"{name} ranks no query{named}")


def check_form(path: Path, name: str, forms: Iterable[str] = READERS) -> None:
    """Raise CounterpartError for a path that is not a file, an empty file, or a name of an unknown form."""
    if Path(name).suffix.lower() not in forms:
        raise CounterpartError(f"Unknown form of rankings {name!r}: use a file that ends in {', '.join(forms)}.")
    if not path.exists():
        raise CounterpartError(f"Cannot read the rankings {path}: No such file or directory.")
    if not path.is_file():
        raise CounterpartError(f"Cannot read the rankings {path}: it is a folder or a device. Name a file.")
    if not path.stat().st_size:
        raise CounterpartError(f"The rankings {name} are an empty file. Write them again.")


def model_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for the model of each file: the file's, without its suffix.

    Files that differ only in their suffix keep it; files of one name in several folders take the names of the folders.
    Raises CounterpartError if two files still have one name.
    """
    # Links are not followed: an upload is a link to a file that is named by its checksum.
    whole = [Path(os.path.abspath(path)) for path in paths]
    stems = Counter(path.stem for path in whole)
    files = Counter(path.name for path in whole)
    names = [
        path.stem if stems[path.stem] == 1 else path.name if files[path.name] == 1 else path.parent.name
        for path in whole
    ]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise CounterpartError(
            f"Several files of rankings are of a model {some_of(twice)}. Rename the files, or score them one at a time "
            "with --model."
        )
    return names


@dataclass
class _Seen:
    """The queries that were read before."""

    name: str
    known: dict[str, Integers] = field(default_factory=lambda: {side: np.zeros(0, np.int64) for side in DIRECTIONS})
    queries: int = 0

    def add(self, block: Block) -> None:
        queries = block.rankings.queries
        again = np.intersect1d(queries, self.known[block.direction])
        if len(again):
            raise CounterpartError(
                f"{self.name} ranks {counted(len(again), 'query', 'queries')} {DIRECTIONS[block.direction]} twice. "
                "Keep one list of each, with its lines together."
            )
        self.known[block.direction] = np.concatenate([self.known[block.direction], queries])
        self.queries += len(queries)
