"""Ranking files of the site: those of ``counterpart_metrics.ranking_files``, with the collection's own ids, and

| file | content |
|---|---|
| ``.npz`` | embeddings, as in ``mitl.annotators.files``: ``image_ids``, ``images``, ``caption_ids``, ``captions``. |
|  | They are ranked by their inner products |
| ``…_predictions.json`` | a task's predictions of MTEB (``mteb_predictions``) |
| ``.zip`` | a folder of such files, or of tables of Hugging Face's ``datasets`` (``result_folders``) |

Here JSON too is never whole in memory, however many queries it has.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.extensions import RANKING_READERS, load
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_metrics import ranking_files
from counterpart_metrics.ids import Ids, Keys
from counterpart_metrics.needed_lists import EVERYTHING, Needs
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.ranking_files import Reader
from evaluation.ranking_files.ranked_embeddings import read_lists_or_embeddings
from evaluation.ranking_files.result_folders import packed_folders

__all__ = ["FORMS", "check_form", "ids_of", "packed_folders", "stream_rankings"]


_READERS: dict[str, Reader] = {**ranking_files.READERS, **load(RANKING_READERS)}
FORMS = tuple(_READERS)
check_form = partial(ranking_files.check_form, forms=FORMS)


def stream_rankings(
    path: Path, ids: Ids, *, name: str = "", needs: Needs = EVERYTHING, progress: Progress = silent
) -> Iterator[Block]:
    """Yield the rankings of a file as ``ranking_files.stream_rankings`` does; of embeddings those that are needed."""
    readers: dict[str, Reader] = {**_READERS, ".npz": partial(read_lists_or_embeddings, needs=needs)}
    return ranking_files.stream_rankings(path, ids, name=name, progress=progress, readers=readers)


def ids_of(collection: Collection) -> Ids:
    """Return the collection's own ids, with the database ids that they mean."""
    images, captions = (
        Keys(dict(rows.gallery().values_list("key", "pk").iterator()))
        for rows in (collection.images, collection.captions)
    )
    return Ids(images, captions)
