"""Format ``qrels``, that of TREC: a line ``query 0 item label`` for every judged or positive pair of a query."""

from contextlib import ExitStack
from typing import IO

from core.errors import CounterpartError, some_of
from core.text import counted
from dataset.exports.gallery_rows import labelled_pairs
from dataset.exports.specification import LABELS, Export, Format
from dataset.versions.version_files import positives_file
from mitl.models import Direction


def write_qrels(export: Export) -> None:
    """Write ``<version>_image_to_caption_<labels>.qrels`` and the same for the other direction.

    Judged pairs that do not match have the label 0. Raises CounterpartError for ids with spaces, which qrels cannot
    hold.
    """
    spaced: dict[str, None] = {}
    with ExitStack() as stack:
        files = {direction: stack.enter_context(_open(export, direction)) for direction in Direction}
        for direction, query, item, label in labelled_pairs(export):
            files[direction].write(f"{query} 0 {item} {label}\n")
            spaced |= dict.fromkeys(key for key in (query, item) if len(key.split()) != 1)
    if spaced:
        raise CounterpartError(
            f"{counted(len(spaced), 'id contains', 'ids contain')} spaces: {some_of(list(spaced))}. Qrels cannot hold "
            "them. Export parquet."
        )


def _open(export: Export, direction: Direction) -> IO[str]:
    stem = positives_file(export.version.name, direction).removesuffix(".json")
    return (export.folder / f"{stem}_{export.labels}.qrels").open("w", encoding="utf-8")


FORMAT = Format(write_qrels, "labels for TREC's tools, a file per direction", LABELS)
