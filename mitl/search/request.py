"""A search as one value: the annotators, the gallery, and how; and the fingerprint of what decides the lists."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from core.errors import CounterpartError, some_of
from counterpart_annotators.base import TOO_SLOW
from counterpart_topk.hubness.reranking import Steps, written
from mitl.annotators import is_cross_encoder
from mitl.models import Annotator
from mitl.search.flat_index import check_faiss
from mitl.search.gallery import SearchGallery
from mitl.search.top_lists import check_device

Engine = Literal["blocked", "faiss"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
RunOn = Literal["local", "ray"]
DEPTH = 25
CASCADE_DEPTH = 100


@dataclass(frozen=True)
class Cascade:
    """The lists of a quick annotator, whose first ``depth`` places a cross-encoder scores again."""

    annotator: Annotator
    depth: int = CASCADE_DEPTH


@dataclass(frozen=True)
class Search:
    """One search that every one of the annotators makes, in both directions.

    Args:
        gallery: what is searched, and the queries.
        depth: length of the lists; shorter where the gallery is smaller.
        engine: one of ENGINES; ``faiss`` only for annotators with embeddings.
        device: where embeddings are multiplied and pairs scored, ``cpu`` or ``cuda``.
        cascade: cross-encoders score only the first places of these lists; other annotators search without it.
            None: cross-encoders score all pairs with a query on either side.
        rerank: steps that correct the scores of all annotators for hubs, and match, before lists are taken
            (``counterpart_topk.hubness.reranking``); only on the CPU, and not for cross-encoders. Empty: the plain
            search.
    """

    gallery: SearchGallery
    annotators: Sequence[Annotator]
    depth: int = DEPTH
    engine: str = "blocked"
    device: str = "cpu"
    cascade: Cascade | None = None
    rerank: Steps = ()

    def cascade_of(self, annotator: Annotator) -> Cascade | None:
        """Return the cascade if it applies to this annotator: only cross-encoders score pairs of other lists."""
        return self.cascade if self.cascade and is_cross_encoder(annotator) else None

    @property
    def rerank_as_text(self) -> str:
        """The steps with all their settings; empty where there are none."""
        return written(self.rerank) if self.rerank else ""

    def fingerprint(self, annotator: Annotator) -> str:
        """Return ``fingerprint`` of this search by one of its annotators."""
        return fingerprint(annotator, self.gallery, self.cascade_of(annotator), self.rerank_as_text)

    def checked(self) -> "Search":
        """Return the search with depths that its gallery allows. Raises CounterpartError where it is impossible."""
        if self.depth < 1:
            raise CounterpartError(f"Lists need a depth of at least 1, not {self.depth}.")
        if self.engine not in ENGINES:
            raise CounterpartError(f"Unknown engine {self.engine!r}; choose one of {', '.join(ENGINES)}.")
        check_device(self.device)
        if self.rerank:
            check_rerank(self.rerank, self.annotators, engine=self.engine, device=self.device)
        most = self.gallery.depth
        search = replace(self, depth=min(self.depth, most))
        if self.engine == "faiss":
            check_faiss(self.device, search.depth)
        if self.cascade is None:
            return search
        check_cascade(self.cascade, self.annotators, search.depth)
        return replace(search, cascade=replace(self.cascade, depth=min(self.cascade.depth, most)))


def fingerprint(annotator: Annotator, gallery: SearchGallery, cascade: Cascade | None = None, rerank: str = "") -> str:
    """SHA-256 of everything that decides what an annotator finds, except depth and engine: its kind, options and
    weights; gallery and queries; the same of a cascade's annotator, and its depth; all settings of a re-ranking."""
    parts = [json.dumps([annotator.kind, annotator.options, annotator.checksum], sort_keys=True), gallery.digest]
    if cascade:
        parts += [fingerprint(cascade.annotator, gallery), str(cascade.depth)]
    if rerank:
        parts.append(rerank)
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def check_rerank(steps: Steps, annotators: Sequence[Annotator], *, engine: str, device: str) -> None:
    """Raise CounterpartError for options that exclude re-ranking, which reads all scores several times on the CPU."""
    if engine != "blocked" or device != "cpu":
        raise CounterpartError(
            f"--rerank {written(steps)} reads all scores on the CPU, which --engine {engine} with --device {device}"
            " does not allow; use --engine blocked and --device cpu."
        )
    if costly := [annotator for annotator in annotators if is_cross_encoder(annotator)]:
        raise CounterpartError(f"{some_of(costly)}: {TOO_SLOW}")


def check_cascade(cascade: Cascade, annotators: Sequence[Annotator], depth: int) -> None:
    """Raise CounterpartError unless the cascade gives lists of ``depth`` for at least one of the annotators."""
    if is_cross_encoder(cascade.annotator):
        raise CounterpartError(
            f"{cascade.annotator} scores pair by pair itself, which a cascade is to avoid;"
            " pass --cascade an annotator that searches quickly."
        )
    if not any(map(is_cross_encoder, annotators)):
        raise CounterpartError(
            "A cascade is only for annotators that score pair by pair, unlike"
            f" {', '.join(map(str, annotators))}; leave --cascade out."
        )
    if cascade.depth < depth:
        raise CounterpartError(
            f"Lists {depth} deep cannot be made of the first {cascade.depth} places of {cascade.annotator}'s lists;"
            f" pass --cascade-depth {depth} or more, or a lower --depth."
        )
