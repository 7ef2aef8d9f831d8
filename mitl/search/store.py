"""Searches that were made before: their rows, their files, and what an interrupted one has finished."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import StoredFile, remove_stale
from core.text import counted
from corpus.models import Collection, Sample
from counterpart_annotators.checkpoints import Checkpoints
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.gallery import BothLists, SearchGallery, load_lists, open_gallery
from mitl.search.request import DEPTH, Cascade, Search, fingerprint


def retrievals_of(search: Search, annotator: Annotator) -> QuerySet[Retrieval]:
    """Return the stored searches of just this kind by the annotator as it is now, newest first; of any depth."""
    return annotator.retrievals.filter(
        sample=search.gallery.sample, fingerprint=search.fingerprint(annotator), engine=search.engine
    )


def find_retrieval(search: Search, annotator: Annotator) -> Retrieval | None:
    """Return the stored result of exactly this search, if it was made before."""
    return retrievals_of(search, annotator).filter(depth=search.depth).first()


def prefix_of_lists(search: Search, annotator: Annotator) -> str:
    """Return how the path begins of the file with what the annotator found."""
    return f"retrievals/{search.gallery.collection}/{annotator}"


def store_retrieval(
    search: Search, annotator: Annotator, stored: StoredFile, seconds: float, *, report: dict[str, Any], actor: str
) -> Retrieval:
    """Store a search as a row, with its event. ``stored``: what was found; ``seconds``: how long it took; ``report``:
    what the lists say of it."""
    cascade = search.cascade_of(annotator)
    with transaction.atomic():
        retrieval = Retrieval.objects.create(
            annotator=annotator,
            collection=search.gallery.collection,
            sample=search.gallery.sample,
            gallery=search.gallery.listed,
            depth=search.depth,
            engine=search.engine,
            cascade=cascade.annotator if cascade else None,
            cascade_depth=cascade.depth if cascade else None,
            rerank=search.rerank_as_text,
            fingerprint=search.fingerprint(annotator),
            file=stored.path,
            sha256=stored.sha256,
            seconds=seconds,
            report=report,
        )
        record("retrieved", retrieval, actor=actor, annotator=annotator.name, sha256=stored.sha256)
    return retrieval


def delete_retrieval(retrieval: Retrieval) -> list[StoredFile]:
    """Delete the row of a search; return its file to be removed, unless another row has the same one."""
    same = Retrieval.objects.filter(file=retrieval.file).exclude(pk=retrieval.pk).exists()
    files = [] if same else [retrieval.stored]
    retrieval.delete()
    return files


def open_checkpoints(search: Search, annotator: Annotator) -> Checkpoints:
    """Return the place for a search's unfinished work; old unfinished work of others is removed on the way."""
    root = settings.VAR_DIR / "partial"
    remove_stale(root)
    decides = f"{search.fingerprint(annotator)}|{search.depth}|{search.engine}|{search.device}"
    return Checkpoints(root / hashlib.sha256(decides.encode()).hexdigest())


def newest_retrieval(annotator: Annotator, gallery: SearchGallery, depth: int) -> Retrieval | None:
    """Return the last search for these queries, at least this deep, that the annotator as it is now has made.

    Without one, the last search of the whole gallery, whose lists are those of every sample. With or without a cascade
    or a re-ranking; the annotator of a cascade must be unchanged too.
    """
    searched = [gallery, gallery.of_all] if gallery.sample and not gallery.listed else [gallery]
    for asked in searched:
        made = annotator.retrievals.filter(collection=gallery.collection, sample=asked.sample, depth__gte=depth)
        for retrieval in made.select_related("cascade"):
            if retrieval.fingerprint == _fingerprint_now(retrieval, annotator, asked):
                return retrieval
    return None


def _fingerprint_now(retrieval: Retrieval, annotator: Annotator, gallery: SearchGallery) -> str:
    first = retrieval.cascade
    depth = retrieval.cascade_depth
    return fingerprint(annotator, gallery, Cascade(first, depth) if first and depth else None, retrieval.rerank)


def newest_retrievals(annotators: Sequence[Annotator], gallery: SearchGallery, depth: int) -> list[Retrieval]:
    """Return each annotator's newest search for these queries that is at least this deep, made by it as it is now.

    Raises CounterpartError with the command to run where one is missing or less deep.
    """
    newest = {annotator: newest_retrieval(annotator, gallery, depth) for annotator in annotators}
    if missing := [annotator for annotator, retrieval in newest.items() if retrieval is None]:
        raise CounterpartError(_how_to_make(missing, gallery, depth))
    return [retrieval for retrieval in newest.values() if retrieval is not None]


def _how_to_make(missing: list[Annotator], gallery: SearchGallery, depth: int) -> str:
    shallow = {annotator.name: newest_retrieval(annotator, gallery, 1) for annotator in missing}
    names = ", ".join(name if made is None else f"{name} ({made.depth} deep)" for name, made in shallow.items())
    queries = f" --queries {gallery.sample}" if gallery.sample else ""
    queries += f" --gallery {gallery.listed}" if gallery.listed else ""
    have = counted(len(missing), "annotator, as it is now, has", "annotators, as they are now, have")
    return (
        f"{have} no lists {depth} deep for"
        f" {gallery.sample or 'the whole gallery'}: {names}. Run: manage.py retrieve {gallery.collection}"
        f" --annotators {','.join(shallow)}{queries} --depth {max(depth, DEPTH if gallery.depth >= DEPTH else depth)}"
    )


@dataclass(frozen=True)
class NewestLists:
    """The lists of several annotators over one gallery: ``lists[a]`` is annotator a's, all at least ``depth`` deep."""

    annotators: list[Annotator]
    gallery: SearchGallery
    depth: int
    lists: list[BothLists]

    @property
    def directions(self) -> list[Direction]:
        """The directions that have queries."""
        return self.gallery.directions

    def items(self, direction: Direction) -> NDArray[np.int64]:
        """Return the ids found, (annotators, queries, depth); shorter lists are padded with 0."""
        return np.stack([lists[direction].items[:, : self.depth] for lists in self.lists])

    def places(self, direction: Direction) -> NDArray[np.int64]:
        """Return the same as places in the gallery; shorter lists are padded with -1."""
        items = self.items(direction)
        return np.where(items == 0, -1, np.searchsorted(self.gallery.ids_of_items(direction), items))


def newest_lists(
    collection: Collection, annotators: Sequence[Annotator], sample: Sample | None, depth: int
) -> NewestLists:
    """Read the newest lists that the annotators, as they are now, made for a sample's queries (None: for all).

    Raises CounterpartError as ``newest_retrievals`` does, and where the gallery does not allow such a depth.
    """
    gallery = open_gallery(collection, sample)
    if not 1 <= depth <= gallery.depth:
        raise CounterpartError(
            f"Lists {depth} deep are not possible over {len(gallery.image_ids)} images and {len(gallery.caption_ids)}"
            f" captions; this gallery allows 1 to {gallery.depth}."
        )
    retrievals = newest_retrievals(annotators, gallery, depth)
    return NewestLists(list(annotators), gallery, depth, [load_lists(retrieval, sample) for retrieval in retrievals])
