"""Testbeds of estimation: queries whose pairs all have a true label, ranked by annotators and by other models."""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from counterpart_statistics.estimation import (
    UNLISTED,
    folds_of,
    match_probability,
    pair_features,
    pool_metrics,
    query_effect,
)

TOP = 5  # places of each annotator's list that are pooled
DEPTH = 25  # places that the features read
ANNOTATORS = ("words", "topics", "seeing-1", "seeing-2", "seeing-3")  # behind the pools of COCO's beds
PILOT = 0.05  # share of the queries whose labels the probabilities are learned from

Floats = NDArray[np.float64]
Pairs = Sequence[set[int]]


@dataclass(frozen=True)
class Bed:
    """Arrays of Q queries with up to J pairs, A annotators behind the pool and M models, these annotators first.

    Attributes:
        ranks: (M, Q, J); ``UNLISTED`` at unused places.
        scores: (A, Q, J) of the annotators, NaN beyond their lists' depth.
        gains: (Q, J) the true labels.
        known: (Q, J) gains of pairs that cost nothing, also of unused places; NaN for pairs to ask.
        groups: (Q,) queries of one image share a group.
        items: (Q, J) which item of the gallery it is; -1 at unused places.
        truth: (K, M) metrics against every match there is, not the pool's alone; None where they are unknown.
        judge: (Q, J) a machine judge's answers on all pairs, NaN at unused places; None without one.
    """

    name: str
    models: tuple[str, ...]
    ranks: NDArray[np.int64]
    scores: Floats
    gains: Floats
    known: Floats
    groups: NDArray[np.int64]
    items: NDArray[np.int64]
    truth: Floats | None = None
    judge: Floats | None = None

    @property
    def asked(self) -> NDArray[np.bool_]:
        return np.isnan(self.known)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """(Q,) pairs to ask in each query."""
        return self.asked.sum(axis=1)

    @property
    def metrics(self) -> Floats:
        """(K, M, Q) from all labels."""
        return pool_metrics(self.ranks, self.gains)

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(M,) models whose lists are not in the pool."""
        return np.arange(len(self.models)) >= len(self.scores)

    @property
    def features(self) -> Floats:
        """(Q, J, F) of the annotators' lists and of the judge's answers."""
        ranks, scores = self.ranks[: len(self.scores)], self.scores
        if self.judge is not None:
            places = np.where(np.isnan(self.judge), UNLISTED, _ranks(np.nan_to_num(self.judge, nan=-np.inf)))
            ranks, scores = np.append(ranks, places[None], axis=0), np.append(scores, self.judge[None], axis=0)
        return pair_features(ranks, scores, DEPTH)

    def probabilities(self, seed: int, share: float = PILOT) -> tuple[Floats, float, NDArray[np.bool_]]:
        """Return p (Q, J), τ and the pilot's queries (Q,): learned from a random share of the queries, by folds."""
        rng = np.random.default_rng(seed)
        pilot = np.zeros(len(self.groups), bool)
        pilot[rng.permutation(len(pilot))[: max(int(share * len(pilot)), 10)]] = True
        labels = np.where(self.asked & pilot[:, None], self.gains > 0, np.nan)
        p = match_probability(self.features, labels, folds_of(self.groups, seed=seed))
        return p, query_effect(p, labels, pilot), pilot


def bed_of(
    name: str,
    scores: Mapping[str, NDArray[np.floating]],
    annotators: Sequence[str],
    matches: Pairs,
    free: Pairs,
    groups: Iterable[int],
) -> Bed:
    """Pool the first places of the annotators' lists with the free matches, and label the pairs by ``matches``.

    Args:
        scores: model → (Q, N), of every item of the gallery; equal scores keep the gallery's order.
        matches, free: items of each query that match, and those that are known beforehand.
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
    return Bed(name, names, ranks, listed, gains, known, np.array(list(groups)), items)


def judged(bed: Bed, auc: float, *, seed: int = 11) -> Bed:
    """Add a machine judge whose answers on matches and other pairs are normal, with this area under the curve."""
    answers = np.sqrt(2) * norm.ppf(auc) * (bed.gains > 0)
    answers += np.random.default_rng(seed).standard_normal(answers.shape)
    used = (bed.ranks < UNLISTED).any(axis=0)
    return replace(bed, name=f"{bed.name}, judge of AUC {auc:.2f}", judge=np.where(used, answers, np.nan))


def _ranks(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty(order.shape, np.int64)
    np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1)[None, :], axis=1)
    return ranks


def synthetic_bed(
    *, queries: int = 600, items: int = 1200, matches: float = 7.0, seed: int = 3, wide: bool = False
) -> Bed:
    """A world of known truth: models see an item's affinity through errors that the annotators share in part. The pool
    is that of the annotators, or ``wide``: of all models."""
    rng = np.random.default_rng(seed)
    sides = [_unit(rng.standard_normal((count, 24)) + 0.4 * rng.standard_normal(24)) for count in (queries, items)]
    affinity = sides[0] @ sides[1].T
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
    bed = bed_of("synthetic", scores, list(errors)[: 10 if wide else 5], truth, free, range(queries))
    everything = bed_of("all", scores, list(errors), truth, truth, range(queries))
    return replace(bed, truth=everything.metrics.mean(axis=2))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


SIDES = ("image_to_caption", "caption_to_image")


def eccv_beds(data: Path, sides: Sequence[str] = SIDES) -> list[Bed]:
    """The queries of ECCV Caption in both directions, its positives as truth, unlisted pairs as no matches."""
    return [world.bed() for world in eccv_worlds(data, sides)]


@dataclass(frozen=True)
class World:
    """The queries of one direction of ECCV Caption, with every model's score of every item of the gallery.

    Attributes:
        asking: (Q,) place of each query among the images or captions of COCO, five captions an image in a row.
        scores: model → (Q, N).
        true, free: items of each query that match, and those that are known beforehand.
    """

    name: str
    to_captions: bool
    asking: NDArray[np.int64]
    scores: Mapping[str, NDArray[np.float32]]
    true: Pairs
    free: Pairs

    def bed(self) -> Bed:
        groups = self.asking if self.to_captions else self.asking // 5
        return bed_of(self.name, self.scores, ANNOTATORS, self.true, self.free, groups)


def eccv_worlds(data: Path, sides: Sequence[str] = SIDES) -> Iterator[World]:
    """Yield the queries that ask for captions, then those that ask for images.

    An image is the text of its captions; a caption that is the query, or an own caption that is searched, is left out
    of its image. Three text annotators and seven models that see the truth through noise replace image models.
    """
    place_of, image_of, vectors = coco_texts(data)

    def matches(name: str, queries: Mapping[int, int], items: Mapping[int, int]) -> dict[int, set[int]]:
        table = json.loads((data / "eccv_caption" / f"{name}.json").read_text())
        return {
            queries[int(query)]: {items[int(item)] for item in found if int(item) in items}
            for query, found in table.items()
            if int(query) in queries
        }

    for side in sides:
        to_captions = side == "image_to_caption"
        queries, items = (image_of, place_of) if to_captions else (place_of, image_of)
        truth = matches(f"eccv_{side}", queries, items)
        cxc = matches(f"cxc_{side}", queries, items)
        asking = np.array(sorted(truth))
        own = [set(range(5 * query, 5 * query + 5)) if to_captions else {query // 5} for query in asking.tolist()]
        free = [(cxc.get(query, set()) & truth[query]) | own[row] for row, query in enumerate(asking.tolist())]
        true = [truth[query] | free[row] for row, query in enumerate(asking.tolist())]
        scores = {name: _standard(_similarities(one, asking, to_captions)) for name, one in vectors.items()}
        scores |= _seeing(scores, true, np.random.default_rng(7 + to_captions))
        yield World(f"ECCV Caption {side.replace('_', ' ')}", to_captions, asking, scores, true, free)


def cxc_bed(data: Path, least: int = 6) -> Bed:
    """Images of Crisscrossed Captions for which people scored ``least`` captions of other images or more, one of them
    with 3 or more, which is a match. Models as in ``eccv_beds`` rank these captions alone: every label is people's."""
    place_of, image_of, vectors = coco_texts(data)
    found: dict[int, dict[int, float]] = {}
    with gzip.open(data / "cxc" / "sits_test.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            image, caption = image_of[int(row["image"][-16:-4])], place_of[int(row["caption"].split(":")[-1])]
            if caption // 5 != image:
                found.setdefault(image, {})[caption] = float(row["agg_score"])
    asking = np.array(sorted(one for one, given in found.items() if len(given) >= least and max(given.values()) >= 3))
    searched = sorted({caption for image in asking.tolist() for caption in found[image]})
    true = []
    scored = np.zeros((len(asking), len(searched)), bool)
    for row, image in enumerate(asking.tolist()):
        places = np.searchsorted(searched, list(found[image])).tolist()
        scored[row, places] = True
        true.append({place for place, score in zip(places, found[image].values(), strict=True) if score >= 3})
    scores = {name: _standard(_similarities(one, asking, True))[:, searched] for name, one in vectors.items()}
    scores |= _seeing(scores, true, np.random.default_rng(9))
    scores = {name: np.where(scored, one, -np.inf) for name, one in scores.items()}
    return bed_of("CxC image to caption, scored by people", scores, ANNOTATORS, true, [set() for _ in true], asking)


@cache
def coco_texts(data: Path) -> tuple[dict[int, int], dict[int, int], dict[str, NDArray]]:
    """Return caption id → place among the 25,000 captions, image id → place, and vectors of the captions."""
    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    place_of = {row["caption_id"]: place for place, row in enumerate(rows)}
    image_of = {row["image_id"]: place // 5 for place, row in enumerate(rows)}
    return place_of, image_of, _text_vectors([re.sub(r"\s+", " ", row["text"]) for row in rows])


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
