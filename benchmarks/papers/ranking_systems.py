"""Hodosh et al. 2013: tables 3 to 7, 11 and 12 on Flickr8k's public captions and judgments.

The pictures are not public here. A system reads an image as its captions but for that in the pool, so that its text
kernel alone is measured, over a pool of 300 images; the systems with pictures read drawn ones.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.papers.active_bed import DRAWN
from benchmarks.papers.book import Made, markdown, numbers
from benchmarks.papers.drawings import draw, trained
from benchmarks.papers.ranking_data import Floats, read_flickr8k
from counterpart_annotators.classical.documents import read_documents
from counterpart_annotators.classical.texts import Text, learn_text
from counterpart_annotators.classical.word_similarities import alignment_based, distributional
from counterpart_annotators.options import defaults
from counterpart_annotators.plain import TO_CAPTIONS, TO_IMAGES
from counterpart_metrics import METRICS, Qrels, Rankings, find
from counterpart_metrics.binary import best_rank
from counterpart_statistics.correlation import spearman, tau_b
from counterpart_statistics.significance import fisher_randomisation, mcnemar, stars

TRAINING = 6000  # images, as in the paper
POOL = 300  # test images of the pool, for which 22 systems take a minute or two
CONTEXTS = {"": (), "+Dimage": ("image",), "+Dic": ("caption",), "+Dimage+ic": ("image", "caption")}
COLUMNS = {"": ("none", False), "+IDF": ("root", False), "+Align": ("none", True), "+Align&IDF": ("root", True)}
SEM = "Tri5+Align&IDF+Dimage+ic"
MAIN = {"NN": "NN", "BoW1": "BoW1", "BoW5": "BoW5", "TagRank": "TagRank", "Tri5": "Tri5", "Tri5Sem": SEM}
WITH_PICTURES = {
    "NN": ("nn", "f1"),
    **{name: ("kcca", name.lower()) for name in ("BoW1", "BoW5", "TagRank", "Tri5", "Tri5Sem")},
}
SAMPLES = 10_000
DIRECTIONS = ("annotation", "search")
RECALLS = ("R@1", "R@5", "R@10", "median rank")
SUCCESSES = ("S@1", "S@5", "S@10")


@cache
def texts(data: Path) -> dict[str, Text]:
    """Return the 22 text kernels by name, learned from the captions of 6,000 images that are not in the test set."""
    training = read_flickr8k(data).training[:TRAINING]
    arrays = {idf: learn_text("bow5", training, idf) for idf in ("none", "root", "full")}
    kernels = {
        "NN": Text("f1", arrays["full"]),
        "BoW1": Text("bow1", arrays["none"]),
        "BoW5": Text("bow5", arrays["none"]),
        "BoW5+√IDF": Text("bow5", arrays["root"]),
        "BoW5+IDF": Text("bow5", arrays["full"]),
        "TagRank": Text("tagrank", learn_text("tagrank", training)),
    }
    _, parts = similarity_parts(data)
    for contexts, named in CONTEXTS.items():
        around = [np.mean([parts[name] for name in named], axis=0)] if named else []
        for column, (idf, align) in COLUMNS.items():
            chosen = around + ([parts["align"]] if align else [])
            alike = {"similarity": np.maximum.reduce(chosen).astype(np.float32)} if chosen else {}
            kernels[f"Tri5{column}{contexts}"] = Text("tri5", arrays[idf] | alike)
    return kernels


@cache
def similarity_parts(data: Path) -> tuple[list[str], dict[str, Floats]]:
    """Return the frequent stems, and how alike they are by each part of Tri5Sem."""
    training = read_flickr8k(data).training[:TRAINING]
    words = learn_text("bow1", training)["words"].tolist()
    documents = read_documents(training, {word: place for place, word in enumerate(words)})
    n = int((np.bincount(documents.words) >= 5).sum())
    frequent = documents.only(documents.words < n)
    contexts = {name: distributional(frequent, n, name) for name in ("caption", "image")}
    return words[:n], contexts | {"align": alignment_based(frequent, n)}


def compared(text: Text, images: list[list[str]], captions: list[str]) -> Floats:
    """Return the kernel of images, read as captions, with captions (n, m)."""
    left, right = (text.kernel.read(text.documents(part)) for part in (images, [[one] for one in captions]))
    return text.kernel.compare(left, right)


@cache
def measured(data: Path) -> dict[str, dict[tuple[str, str], Floats]]:
    """Return a value per query of each system by direction and metric, over a pool of 300 images and captions."""
    found = read_flickr8k(data)
    relevant = found.relevant()[:POOL, :POOL]
    places = np.arange(POOL)
    results: dict[str, dict[tuple[str, str], Floats]] = {}
    for name, text in texts(data).items():
        scores = compared(text, [captions[1:] for captions in found.captions[:POOL]], found.pool[:POOL])
        for direction, matrix, right in (("annotation", scores, relevant), ("search", scores.T, relevant.T)):
            ranked = Rankings.of_similarity(matrix.astype(np.float32), queries=places, items=places)
            original = find(ranked, Qrels.of({int(q): {int(q)} for q in places}))
            judged = find(ranked, Qrels.of({int(q): set(np.flatnonzero(right[q]).tolist()) for q in places}))
            values = results.setdefault(name, {})
            for k in (1, 5, 10):
                values[direction, f"R@{k}"] = METRICS[f"R@{k}"](original)
                values[direction, f"S@{k}"] = METRICS[f"R@{k}"](judged)
            values[direction, "median rank"] = best_rank(original)
            values[direction, "R-precision"] = METRICS["R-Precision"](judged)
    return results


def figure_of(values: Mapping[tuple[str, str], Floats], direction: str, metric: str) -> float:
    one = values[direction, metric]
    return float(np.median(one)) if metric == "median rank" else 100 * float(one.mean())


def starred(data: Path, name: str, direction: str, metric: str) -> str:
    """Return a system's figure with the stars of its difference to Tri5Sem."""
    values = measured(data)
    mine, best = values[name][direction, metric], values[SEM][direction, metric]
    binary = metric[:2] in ("R@", "S@")
    test = mcnemar(mine, best) if binary else fisher_randomisation(mine, best, SAMPLES)
    return f"{figure_of(values[name], direction, metric):.1f}{stars(test.pvalue).replace('*', '∗')}"


def pair_of(data: Path, name: str, metric: str) -> str:
    """Return a system's figure of annotation and of search."""
    return numbers((figure_of(measured(data)[name], direction, metric) for direction in DIRECTIONS), between="/")


def of_sem(data: Path, metrics: Sequence[str]) -> str:
    figures = "; ".join(f"{metric} {pair_of(data, SEM, metric)}" for metric in metrics)
    return f"Tri5Sem's kernel over captions, annotation/search: {figures}"


def of_all(data: Path, metrics: Sequence[str]) -> str:
    """Return the table of all systems."""
    columns = [(direction, metric) for direction in DIRECTIONS for metric in metrics]
    rows = (
        [f"{name} (Tri5Sem)" if name == SEM else name, *(starred(data, name, *column) for column in columns)]
        for name in texts(data)
    )
    return markdown(["", *map(" ".join, columns)], rows)


def table_3(data: Path) -> Made:
    return Made(of_sem(data, RECALLS))


def table_4(data: Path) -> Made:
    return Made(of_sem(data, SUCCESSES))


def table_5(data: Path) -> Made:
    return Made(of_sem(data, ["R-precision"]))


def table_11(data: Path) -> Made:
    sums = ", ".join(f"{name} {rsum_on_drawings(*system):.0f}" for name, system in WITH_PICTURES.items())
    return Made(
        f"{of_sem(data, RECALLS)}. Sums of the six recalls with pictures, 400 drawn to learn from and 100 in the pool: "
        f"{sums}",
        of_all(data, RECALLS),
    )


def table_12(data: Path) -> Made:
    metrics = (*SUCCESSES, "R-precision")
    return Made(of_sem(data, metrics), of_all(data, metrics))


def rsum_on_drawings(kind: str, text: str) -> float:
    """Return the sum of R@1, R@5 and R@10 in both directions of a system that reads pictures."""
    drawings = draw(*DRAWN)
    tested = drawings.part("test", captions=1)
    options = import_module(f"counterpart_annotators.kinds.{kind}").OPTIONS
    model = trained(kind, defaults(options) | {"text": text}, drawings.part("train", captions=5))
    if kind == "nn":
        sides = (TO_CAPTIONS, tested.images, tested.captions), (TO_IMAGES, tested.captions, tested.images)
        orders = [model.lists_of(*side)[0] for side in sides]
    else:
        scores = model.encode_images(tested.images) @ model.encode_captions(tested.captions).T
        orders = [np.argsort(-side, axis=1, kind="stable") for side in (scores, scores.T)]
    is_own = [order == np.arange(len(order))[:, None] for order in orders]
    return sum(100 * float(side[:, :k].any(axis=1).mean()) for side in is_own for k in (1, 5, 10))


def table_6(data: Path) -> Made:
    cells = [(column, direction) for column in COLUMNS for direction in DIRECTIONS]
    rows = [
        [
            contexts or "no distributional similarity",
            *(_cell_of_table_6(data, one, contexts, way) for one, way in cells),
        ]
        for contexts in CONTEXTS
    ]
    tri5, sem, aligned = (pair_of(data, name, "R-precision") for name in ("Tri5", SEM, "Tri5+Align"))
    return Made(
        f"Tri5 {tri5}, Tri5Sem {sem}, Tri5+Align {aligned}: alignment helps, IDF does not, company only in search",
        markdown(["", *(f"Tri5{column} {direction}" for column, direction in cells)], rows),
    )


def _cell_of_table_6(data: Path, column: str, contexts: str, direction: str) -> str:
    values = measured(data)
    mine = values[f"Tri5{column}{contexts}"]
    without = {"d": f"Tri5{column}"} if contexts else {}
    idf, align = COLUMNS[column]
    if idf == "root":
        without["i"] = f"Tri5{'+Align' if align else ''}{contexts}"
    if align:
        without["a"] = f"Tri5{'+IDF' if idf == 'root' else ''}{contexts}"
    marks = ""
    for letter, name in without.items():
        before = values[name][direction, "R-precision"]
        test = fisher_randomisation(mine[direction, "R-precision"], before, SAMPLES)
        marks += letter * len(stars(test.pvalue)) if test.statistic > 0 else ""
    return f"{figure_of(mine, direction, 'R-precision'):.1f} {marks}".strip()


def table_7(data: Path) -> Made:
    values = measured(data)
    pairs = [*zip(SUCCESSES, RECALLS, strict=False), *(("R-precision", metric) for metric in RECALLS)]
    rows = []
    for people, automatic in pairs:
        row: list[object] = [f"{people} and {automatic}"]
        for direction in DIRECTIONS:
            judged, counted = (
                [figure_of(one, direction, metric) for one in values.values()] for metric in (people, automatic)
            )
            sign = -1 if automatic == "median rank" else 1
            row += [sign * spearman(judged, counted), sign * tau_b(judged, counted)]
        rows.append(row)
    return Made(
        "ρ of R-precision (annotation): "
        + ", ".join(f"{metric} {row[1]:.2f}" for metric, row in zip(RECALLS, rows[3:], strict=True)),
        markdown(["", "ρ annotation", "τ annotation", "ρ search", "τ search"], rows),
    )
