"""Folders of results as other libraries leave them, packed into a zip file, which is one file of rankings.

MTEB's predictions count, or else tables of Hugging Face's ``datasets``; other files are not read.
"""

import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.errors import CounterpartError
from core.files.stored_files import scratch_folder
from core.files.zip_files import unpack
from counterpart_metrics.dataset_lists import SUFFIXES, dataset_lists
from counterpart_metrics.ids import Ids
from counterpart_metrics.listed_queries import listed_blocks
from counterpart_metrics.ranking_blocks import Block
from evaluation.ranking_files.mteb_predictions import NO_RANKINGS, SUFFIX, is_results, model_of, predicted_lists

_IGNORED = (".json", ".jsonl", ".csv", ".md", ".txt", ".yaml", ".lock")  # files that such folders have too
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same folder has the same zip file whenever it was written


def read_zip(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    with scratch_folder() as scratch:
        root = scratch / "unpacked"
        for file in _files_of(unpack(path, root, suffixes=(*SUFFIXES, *_IGNORED)), name):
            inner = file.relative_to(root).as_posix()  # whose folders may name the direction
            lists = predicted_lists(file, inner) if inner.endswith(SUFFIX) else dataset_lists(file, inner)
            yield from listed_blocks(inner, lists, ids)


@contextmanager
def packed_folders(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Give the paths with each folder of results as a zip file, named by the model in MTEB's files or else the folder.

    Raises CounterpartError for a folder without rankings.
    """
    with ExitStack() as opened:
        yield [_packed(path, opened.enter_context(scratch_folder())) if path.is_dir() else path for path in paths]


def _packed(folder: Path, scratch: Path) -> Path:
    files = _files_of(folder, folder.name)
    models = {model_of(file).replace("/", "__") for file in files if file.name.endswith(SUFFIX)} - {""}
    own = folder.resolve().name
    target = scratch / own / f"{models.pop() if len(models) == 1 else own}.zip"  # its folder distinguishes equal names
    target.parent.mkdir()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _OLDEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            with file.open("rb") as content, archive.open(info, "w", force_zip64=True) as packed:
                shutil.copyfileobj(content, packed, 1 << 20)
    return target


def _files_of(folder: Path, name: str) -> list[Path]:
    """Return the files with rankings in a folder, by name."""
    every = sorted(file for file in folder.rglob("*") if file.is_file())
    found = [file for file in every if file.name.endswith(SUFFIX)]
    found = found or [file for file in every if file.suffix in SUFFIXES]
    if not found and any(is_results(file) for file in every if file.suffix == ".json"):
        raise CounterpartError(f"{name} has {NO_RANKINGS}")
    if not found:
        raise CounterpartError(f"{name} has no file …{SUFFIX} of MTEB, and none that ends in {' or '.join(SUFFIXES)}.")
    return found
