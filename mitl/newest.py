"""The newest searches of several machines for the same queries, and their ranked lists side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.models import Collection, Sample
from mitl.gallery import Gallery, open_gallery
from mitl.lists import BothLists, load_lists
from mitl.models import Annotator, Direction, Retrieval
from mitl.retrieval import newest_retrieval


@dataclass(frozen=True)
class MachineLists:
    """What several machines found over one gallery: ``lists[a]`` is annotator a's, all at least ``depth`` deep."""

    annotators: list[Annotator]
    gallery: Gallery
    depth: int
    lists: list[BothLists]

    @property
    def directions(self) -> list[Direction]:
        """The directions in which anything was asked."""
        return self.gallery.directions

    def items(self, direction: Direction) -> NDArray[np.int64]:
        """Return the ids found, (machines, queries, depth); 0 fills up shorter lists."""
        return np.stack([lists[direction].items[:, : self.depth] for lists in self.lists])

    def places(self, direction: Direction) -> NDArray[np.int64]:
        """Return the same as places in the gallery; -1 fills up shorter lists."""
        items = self.items(direction)
        return np.where(items == 0, -1, np.searchsorted(self.gallery_ids(direction), items))

    def gallery_ids(self, direction: Direction) -> NDArray[np.int64]:
        """Return the ids that can be found in one direction, rising."""
        return self.gallery.caption_ids if direction == Direction.IMAGE_TO_CAPTION else self.gallery.image_ids


def newest_lists(
    collection: Collection, annotators: Sequence[Annotator], sample: Sample | None, depth: int
) -> MachineLists:
    """Read the newest lists that the annotators, as they are now, made for a sample's queries (None: for all).

    Raises CounterpartError as ``newest_retrievals`` does, and where the gallery does not allow such a depth.
    """
    gallery = open_gallery(collection, sample)
    if not 1 <= depth <= gallery.depth:
        raise CounterpartError(
            f"Lists {depth} deep are not possible over {len(gallery.image_ids)} images and {len(gallery.caption_ids)}"
            f" captions; this gallery allows 1 to {gallery.depth}."
        )
    found = newest_retrievals(annotators, collection, gallery, sample, depth)
    return MachineLists(list(annotators), gallery, depth, [load_lists(retrieval) for retrieval in found])


def newest_retrievals(
    annotators: Sequence[Annotator], collection: Collection, gallery: Gallery, sample: Sample | None, depth: int
) -> list[Retrieval]:
    """Return each annotator's newest search for these queries that is at least so deep, made by it as it is now.

    Raises CounterpartError with the command to run where one is missing or less deep.
    """
    found = {annotator: newest_retrieval(annotator, gallery, sample, depth) for annotator in annotators}
    if lacking := [annotator for annotator, retrieval in found.items() if retrieval is None]:
        raise CounterpartError(_how_to_make(lacking, collection, gallery, sample, depth))
    return [retrieval for retrieval in found.values() if retrieval is not None]


def _how_to_make(
    lacking: list[Annotator], collection: Collection, gallery: Gallery, sample: Sample | None, depth: int
) -> str:
    shallow = {annotator.name: newest_retrieval(annotator, gallery, sample, 1) for annotator in lacking}
    names = ", ".join(name if there is None else f"{name} ({there.depth} deep)" for name, there in shallow.items())
    queries = f" --queries {sample}" if sample else ""
    return (
        f"{len(lacking)} annotators, as they are now, have no lists {depth} deep for"
        f" {sample or 'the whole gallery'}: {names}. Run: manage.py retrieve {collection}"
        f" --annotators {','.join(shallow)}{queries} --depth {max(depth, 25 if gallery.depth >= 25 else depth)}"
    )
