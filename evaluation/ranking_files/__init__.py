"""Ranking files of the site: those of ``counterpart_metrics.ranking_files``, with the collection's own ids, and

| file | content |
|---|---|
| ``.npz`` | embeddings, as in ``mitl.annotators.files``: ``image_ids``, ``images``, ``caption_ids``, ``captions``. |
|  | They are ranked by their inner products |
| ``.parquet`` | a row a query: ``direction`` (i2t, t2i), ``query``, ``items`` (a list), perhaps ``scores`` (a list) |
| ``…_predictions.json`` | a task's predictions of MTEB (``mteb_predictions``) |
| ``.zip`` | a folder of such files, or of tables of Hugging Face's ``datasets`` (``result_folders``) |

JSON and Parquet files too are never whole in memory, however many queries they have.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.errors import CounterpartError
from corpus.models import Collection
from counterpart_metrics import ranking_files
from counterpart_metrics.ids import Ids, Keys
from counterpart_metrics.ranking_blocks import Block
from evaluation.ranking_files.json_stream import read_json_stream
from evaluation.ranking_files.listed_queries import listed_blocks
from evaluation.ranking_files.mteb_predictions import NO_RANKINGS, SUFFIX, is_results, predicted_lists
from evaluation.ranking_files.parquet_lists import read_parquet
from evaluation.ranking_files.ranked_embeddings import read_lists_or_embeddings
from evaluation.ranking_files.result_folders import packed_folders, read_zip

__all__ = ["FORMS", "check_form", "ids_of", "packed_folders", "stream_rankings"]


def _read_json(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    if name.endswith(SUFFIX):
        return listed_blocks(name, predicted_lists(path, name), ids)
    if is_results(path):
        raise CounterpartError(f"{name} has {NO_RANKINGS}")
    return read_json_stream(path, name, ids)


_READERS = {
    **ranking_files.READERS,
    ".json": _read_json,
    ".npz": read_lists_or_embeddings,
    ".parquet": read_parquet,
    ".zip": read_zip,
}
FORMS = tuple(_READERS)
stream_rankings = partial(ranking_files.stream_rankings, readers=_READERS)
check_form = partial(ranking_files.check_form, forms=FORMS)


def ids_of(collection: Collection) -> Ids:
    """Return the collection's own ids, which stand for its database ids."""
    images, captions = collection.images.gallery(), collection.captions.gallery()
    return Ids(*(Keys(dict(rows.values_list("key", "pk").iterator())) for rows in (images, captions)))
