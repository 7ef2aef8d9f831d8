"""Testbeds of estimation: queries whose pairs all have a true label, ranked by annotators and by other models."""

import gzip
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.papers.public_files import coco_captions
from counterpart_statistics.estimation import (
    UNLISTED,
    folds_of,
    match_probability,
    pair_features,
    pool_metrics,
    query_effect,
)
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import PooledQueries, WholeQueries

TOP = 5  # places of each annotator's list that are pooled
DEPTH = 25  # places that the features read
ANNOTATORS = ("words", "topics", "seeing-1", "seeing-2", "seeing-3")  # behind the pools of beds of captions
PILOT = 0.05  # share of the queries whose labels the probabilities are learned from
SIDES = ("image_to_caption", "caption_to_image")

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Pairs = Sequence[Collection[int]]


@dataclass(frozen=True)
class Bed:
    """Arrays of Q queries with up to J pairs, A annotators behind the pool and M models, these annotators first.

    Attributes:
        ranks: (M, Q, J); ``UNLISTED`` at unused places.
        scores: (A, Q, J) of the annotators, NaN beyond their lists' depth.
        gains: (Q, J) the true labels.
        known: (Q, J) gains of pairs that cost nothing, also of unused places; NaN for pairs to ask.
        groups: (Q,) the image of each query.
        codes: (Q, J) of the pairs, as ``pair_codes`` makes them; at unused places numbers that no pair has.
        direction: "i2t" where images are the queries, "t2i" where captions are.
    """

    name: str
    models: tuple[str, ...]
    ranks: Ids
    scores: Floats
    gains: Floats
    known: Floats
    groups: Ids
    codes: Ids
    direction: str = "i2t"

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        return np.isnan(self.known)

    @property
    def pairs(self) -> Ids:
        """(Q,) pairs to ask in each query."""
        return self.asked.sum(axis=1)

    @cached_property
    def metrics(self) -> Floats:
        """(K, M, Q) from all labels."""
        return pool_metrics(self.ranks, self.gains)

    @cached_property
    def features(self) -> Floats:
        """(Q, J, F) of the annotators' lists."""
        return pair_features(self.ranks[: len(self.scores)], self.scores, DEPTH)

    def probabilities(self, seed: int, share: float = PILOT) -> tuple[Floats, float, NDArray[np.bool_]]:
        """Return p (Q, J), τ and the pilot's queries (Q,): learned from a random share of the queries, by folds."""
        rng = np.random.default_rng(seed)
        pilot = np.zeros(len(self.groups), bool)
        pilot[rng.permutation(len(pilot))[: max(int(share * len(pilot)), 10)]] = True
        labels = np.where(self.asked & pilot[:, None], self.gains > 0, np.nan)
        p = match_probability(self.features, labels, folds_of(self.groups, seed=seed))
        return p, query_effect(p, labels, pilot), pilot

    def whole(self, seed: int) -> WholeQueries:
        """Return the judged queries of a finished round of this seed, before an audit has drawn any."""
        levels = np.where(self.gains > 0, 1.0, 4.0)
        keys = tuple(map(str, range(len(self.groups))))
        queries = PooledQueries(
            self.models, self.ranks, self.scores, DEPTH, levels, self.known, self.codes, keys, self.groups
        )
        asked_of = frozenset(self.models[: len(self.scores)])
        nothing = (np.full(len(keys), -1), asked_of, np.zeros(levels.shape, bool))
        return WholeQueries(self.name, self.direction, seed, queries, *nothing)


def bed_of(
    name: str,
    scores: Mapping[str, NDArray[np.floating]],
    annotators: Sequence[str],
    matches: Pairs,
    free: Pairs,
    asking: Iterable[int],
    *,
    to_captions: bool = True,
) -> Bed:
    """Pool the first places of the annotators' lists with the free matches, and label the pairs by ``matches``.

    Args:
        scores: model → (Q, N), of every item of the gallery; equal scores keep the gallery's order.
        matches, free: items of each query that match, and those that are known beforehand.
        asking: the images that ask ``to_captions``, or the captions that ask, five an image.
    """
    names = (*annotators, *(model for model in scores if model not in annotators))
    places = {model: _ranks(values) for model, values in scores.items()}
    universes = []
    for query, known in enumerate(free):
        pooled = [np.flatnonzero(places[model][query] <= TOP) for model in annotators]
        universes.append(sorted({*np.concatenate(pooled).tolist(), *known}))
    size = max(map(len, universes))
    items = np.full((len(universes), size), -1)
    for query, universe in enumerate(universes):
        items[query, : len(universe)] = universe
    used = items >= 0
    rows = np.arange(len(items))[:, None]
    is_match = np.array([[item in matches[query] for item in row] for query, row in enumerate(items.tolist())])
    is_free = np.array([[item in free[query] for item in row] for query, row in enumerate(items.tolist())])
    gains = (is_match | is_free).astype(float) * used
    ranks = np.stack([np.where(used, places[model][rows, items], UNLISTED) for model in names])
    listed = np.stack([np.where(used, scores[model][rows, items], np.nan) for model in annotators])
    listed = np.where(ranks[: len(annotators)] <= DEPTH, listed, np.nan)
    known = np.where(is_free | ~used, gains, np.nan)
    queries = np.array(list(asking))
    items = np.where(used, items, items.max() + 1 + np.arange(size))
    sides = (np.broadcast_to(queries[:, None], items.shape), items)
    codes = pair_codes(*(sides if to_captions else sides[::-1]))
    groups = queries if to_captions else queries // 5
    return Bed(name, names, ranks, listed, gains, known, groups, codes, "i2t" if to_captions else "t2i")


def _ranks(scores: NDArray[np.floating]) -> NDArray[np.int32]:
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty(order.shape, np.int32)
    np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1, dtype=np.int32)[None, :], axis=1)
    return ranks


def synthetic_bed(*, queries: int = 600, items: int = 1200, matches: float = 7.0, seed: int = 3) -> Bed:
    """A world of known truth: models see an item's affinity through errors that the annotators share in part."""
    rng = np.random.default_rng(seed)
    sides = [rng.standard_normal((count, 24)) + 0.4 * rng.standard_normal(24) for count in (queries, items)]
    unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in sides]
    affinity = unit[0] @ unit[1].T
    affinity = (affinity - affinity.mean(axis=1, keepdims=True)) / affinity.std(axis=1, keepdims=True)
    affinity += 0.5 * rng.standard_normal(affinity.shape)
    count = np.clip(np.round(np.exp(rng.normal(np.log(matches), 0.8, queries))), 1, 45).astype(int)
    best = np.argsort(-affinity, axis=1)
    truth = [set(best[query, : count[query]].tolist()) for query in range(queries)]
    free = [{int(best[query, rng.integers(count[query])])} for query in range(queries)]
    common = rng.standard_normal(affinity.shape)
    errors = {f"annotator-{place}": (0.5, error) for place, error in enumerate((0.6, 0.8, 1.0, 0.7, 1.2), 1)}
    errors |= {
        f"outside-{place}": error
        for place, error in enumerate(((0.5, 0.9), (0.0, 0.5), (0.0, 1.1), (0.6, 0.5), (0.0, 0.8)), 1)
    }
    scores = {
        model: affinity + shared * common + own * rng.standard_normal(affinity.shape)
        for model, (shared, own) in errors.items()
    }
    return bed_of("synthetic", scores, list(errors)[:5], truth, free, range(queries))


def eccv_beds(data: Path, sides: Sequence[str] = SIDES) -> list[Bed]:
    """The queries of ECCV Caption, its positives as truth, unlisted pairs as no matches; positives of Crisscrossed
    Captions and the originals are known."""
    rows = coco_captions(data)
    place_of = {row["caption_id"]: place for place, row in enumerate(rows)}
    image_of = {row["image_id"]: place // 5 for place, row in enumerate(rows)}
    vectors = _text_vectors([re.sub(r"\s+", " ", row["text"]) for row in rows])

    def matches(source: str, side: str) -> dict[int, set[int]]:
        queries, items = (image_of, place_of) if side == SIDES[0] else (place_of, image_of)
        table = json.loads((data / "eccv_caption" / f"{source}_{side}.json").read_text())
        numbered = {queries[int(query)]: found for query, found in table.items() if int(query) in queries}
        return {query: {items[int(item)] for item in found if int(item) in items} for query, found in numbered.items()}

    beds = []
    for side in sides:
        truth = matches("eccv", side)
        cxc = matches("cxc", side)
        free = {query: cxc.get(query, set()) & truth[query] for query in truth}
        beds.append(_text_bed("ECCV Caption", vectors, side, truth, free))
    return beds


def flickr_beds(data: Path, sides: Sequence[str] = SIDES) -> list[Bed]:
    """The test images of Flickr8k with their captions, and the captions that its crowd saw: pairs that most said yes to
    and originals as truth, pairs that it did not see as no matches; the originals are known."""
    folder = data / "flickr8k"
    with gzip.open(folder / "Flickr8k.token.txt.gz", "rt") as lines:
        text_of = dict(line.rstrip("\n").split("\t") for line in lines)
    images = sorted((folder / "Flickr_8k.testImages.txt").read_text().split())
    keys = [f"{image}#{number}" for image in images for number in range(5)]
    vectors = _text_vectors([text_of[key] for key in keys])
    place_of = {key: place for place, key in enumerate(keys)}
    truth = {side: dict[int, set[int]]() for side in SIDES}
    with gzip.open(folder / "CrowdFlowerAnnotations.txt.gz", "rt") as lines:
        for image, caption, yes, *_ in (line.split("\t") for line in lines):
            pair = (place_of[f"{image}#0"] // 5, place_of[caption])
            for side, (query, item) in zip(SIDES, (pair, pair[::-1]), strict=True):
                truth[side].setdefault(query, set()).update({item} if float(yes) > 0.5 else ())
    return [_text_bed("Flickr8k", vectors, side, truth[side], {}) for side in sides]


def rare_beds(beds: Sequence[Bed], share: float = 0.05, seed: int = 5) -> list[Bed]:
    """Draw labels of both directions of a testbed such that ``share`` of the pairs match: the likelier, the better
    their ranks, with an effect of each image and of each caption. A pair has one label."""
    rng = np.random.default_rng(seed)
    codes, first = np.unique(np.concatenate([bed.codes[bed.asked] for bed in beds]), return_index=True)
    logs = [np.log(np.minimum(bed.ranks[: len(bed.scores)], 50)).mean(axis=0)[bed.asked] for bed in beds]
    logits = -1.5 * np.concatenate(logs)[first]
    for side in (codes >> 32, codes & 0xFFFFFFFF):
        distinct, number = np.unique(side, return_inverse=True)
        logits += 0.8 * rng.standard_normal(len(distinct))[number]
    steps = np.linspace(-20, 20, 801)
    intercept = steps[np.searchsorted([expit(logits + step).mean() for step in steps], share)]
    drawn = (rng.random(len(codes)) < expit(logits + intercept)).astype(float)
    found = []
    for bed in beds:
        gains = np.where(bed.asked, drawn[np.minimum(np.searchsorted(codes, bed.codes), len(codes) - 1)], bed.known)
        found.append(replace(bed, name=bed.name.replace("ECCV Caption", "rare (5%)"), gains=gains))
    return found


def _text_bed(
    name: str, vectors: Mapping[str, NDArray], side: str, truth: Mapping[int, set[int]], free: Mapping[int, set[int]]
) -> Bed:
    """Return the queries of ``truth`` as a testbed, the originals known besides ``free``.

    An image is the text of its captions; a caption that is the query, or an own caption that is searched, is left out
    of its image. Three text annotators and seven models that see the truth through noise replace image models.
    """
    to_captions = side == SIDES[0]
    asking = np.array(sorted(truth))
    own = [range(5 * query, 5 * query + 5) if to_captions else [query // 5] for query in asking.tolist()]
    known = [free.get(query, set()) | set(mine) for query, mine in zip(asking.tolist(), own, strict=True)]
    true = [truth[query] | known[row] for row, query in enumerate(asking.tolist())]
    scores = {model: _standard(_similarities(one, asking, to_captions)) for model, one in vectors.items()}
    scores |= _seeing(scores, true, np.random.default_rng(7 + to_captions))
    return bed_of(
        f"{name} {side.replace('_', ' ')}", scores, ANNOTATORS, true, known, asking.tolist(), to_captions=to_captions
    )


def _text_vectors(texts: list[str]) -> dict[str, NDArray]:
    """Return (N, V) normalised vectors of the captions: words, their topics, and runs of letters."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    words = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32).fit_transform(texts)
    letters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), min_df=3, max_df=0.3, sublinear_tf=True, dtype=np.float32
    )
    topics = normalize(TruncatedSVD(200, random_state=0, n_iter=3).fit_transform(words)).astype(np.float32)
    return {"words": words, "topics": topics, "letters": letters.fit_transform(texts)}


def _similarities(vectors: NDArray, asking: NDArray[np.int64], to_captions: bool) -> NDArray[np.float32]:
    """Return the mean similarity of a caption to the other captions of an image, (Q, N)."""
    from scipy import sparse

    captions = np.arange(vectors.shape[0])
    images = captions // 5
    grouping = sparse.csr_matrix((np.ones(len(captions), np.float32), (images, captions)))
    documents = grouping @ vectors
    found = documents[asking] @ vectors.T if to_captions else vectors[asking] @ documents.T
    sums = np.asarray(found.todense() if sparse.issparse(found) else found, np.float32)
    own = images[None, :] == asking[:, None] if to_captions else np.arange(images.max() + 1) == asking[:, None] // 5
    squares = vectors.multiply(vectors).sum(axis=1) if sparse.issparse(vectors) else (vectors * vectors).sum(axis=1)
    same = np.asarray(squares, np.float32).ravel()
    itself = same[None, :] if to_captions else same[asking][:, None]
    return np.where(own, (sums - itself) / 4, sums / 5)


def _standard(scores: NDArray) -> NDArray[np.float32]:
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True), np.float32)


def _seeing(texts: Mapping[str, NDArray], true: Pairs, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Return models that mix a text score with the truth and noise, queries of unequal difficulty."""
    shape = texts["words"].shape
    marks = np.zeros(shape, np.float32)
    for query, found in enumerate(true):
        marks[query, list(found)] = 1
    mixes = [(0.6, 0.4, 0.9, 0.55), (0.2, 0.8, 1.3, 0.6), (1.0, 0.0, 1.4, 0.6), (0.0, 1.0, 0.9, 0.6)]
    mixes += [(0.5, 0.5, 1.1, 0.6), (0.5, 0.5, 1.8, 0.5), (0.3, 0.3, 2.2, 0.9)]
    models = {}
    for number, (topics, letters, sight, noise) in enumerate(mixes, 1):
        ease = (0.5 + rng.random((shape[0], 1))).astype(np.float32)
        seen = marks * ease * (0.3 + 1.4 * rng.random(shape, dtype=np.float32))
        other = rng.standard_normal(shape, dtype=np.float32)
        models[f"seeing-{number}"] = (
            topics * texts["topics"] + letters * texts["letters"] + sight * seen + noise * other
        )
    return models
