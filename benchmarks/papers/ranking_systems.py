"""Hodosh et al. 2013: tables 3 to 7, 11 and 12 on Flickr8k's public captions and judgments.

The pictures are not public here. A system reads an image as its captions but for that in the pool, so that its text
kernel alone is measured, over a pool of 300 images.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.papers.book import Item, Status
from benchmarks.papers.ranking_data import Floats, markdown, read_flickr8k
from counterpart_annotators.classical.documents import read_documents
from counterpart_annotators.classical.texts import Text, learn_text
from counterpart_annotators.classical.word_similarities import alignment_based, distributional
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
PRINTED_SYSTEMS = "the systems' lists and Flickr8k's pictures are not public; ours reads captions in their place"
SOURCE = "public: Flickr8k's captions; experts or crowd"
SAMPLES = 10_000


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


def system_table(data: Path, names: Mapping[str, str], metrics: tuple[str, ...]) -> str:
    columns = [(direction, metric) for direction in ("annotation", "search") for metric in metrics]
    rows = [[shown, *(starred(data, name, *column) for column in columns)] for shown, name in names.items()]
    return markdown(["", *(" ".join(column) for column in columns)], rows)


def _systems_item(
    number: str, subject: str, paper: str, metrics: tuple[str, ...], data: Path, names: Mapping[str, str]
) -> Item:
    values = measured(data)
    shown = "; ".join(
        f"{metric} {'/'.join(f'{figure_of(values[SEM], d, metric):.1f}' for d in ('annotation', 'search'))}"
        for metric in metrics
    )
    return Item(
        number,
        subject,
        paper,
        f"Tri5Sem's kernel over captions, annotation/search: {shown}",
        SOURCE,
        "`train_annotator NAME` of kind `kcca` or `nn`, then `evaluate --version V`",
        Status.CLOSED,
        f"{PRINTED_SYSTEMS}, in a pool of {POOL}; ∗, ∗∗, ∗∗∗: p ≤ 0.1, 0.05, 0.01 against Tri5Sem"
        + ("; of the median rank by Fisher's test of the mean" if "median rank" in metrics else ""),
        system_table(data, names, metrics),
    )


RECALLS = ("R@1", "R@5", "R@10", "median rank")
SUCCESSES = ("S@1", "S@5", "S@10")


def table_3(data: Path) -> Item:
    paper = "R@1 of annotation: Tri5Sem 8.3, BoW5 6.2, TagRank 6.0; NN is last"
    return _systems_item("table 3", "rank of the original item", paper, RECALLS, data, MAIN)


def table_4(data: Path) -> Item:
    paper = "S@10 of Tri5Sem 49.1 (annotation), 48.5 (search); NN is last"
    return _systems_item("table 4", "rate of success", paper, SUCCESSES, data, MAIN)


def table_5(data: Path) -> Item:
    paper = "R-precision of Tri5Sem 13.4 (annotation), 13.7 (search); Tri5 11.6, 11.0"
    return _systems_item("table 5", "R-precision", paper, ("R-precision",), data, MAIN)


def table_11(data: Path) -> Item:
    names = {name: name for name in texts(data)}
    return _systems_item("table 11", "recall and median rank of all systems", "30 systems", RECALLS, data, names)


def table_12(data: Path) -> Item:
    names = {name: name for name in texts(data)}
    metrics = (*SUCCESSES, "R-precision")
    return _systems_item("table 12", "S@k and R-precision of all systems", "30 systems", metrics, data, names)


def table_6(data: Path) -> Item:
    values = measured(data)
    rows = []
    for contexts in CONTEXTS:
        row = [contexts or "no distributional similarity"]
        for column in COLUMNS:
            row += [_cell_of_table_6(data, column, contexts, direction) for direction in ("annotation", "search")]
        rows.append(row)
    heads = [f"Tri5{column} {direction}" for column in COLUMNS for direction in ("annotation", "search")]
    tri5, sem, aligned = (
        "/".join(f"{figure_of(values[name], direction, 'R-precision'):.1f}" for direction in ("annotation", "search"))
        for name in ("Tri5", SEM, "Tri5+Align")
    )
    return Item(
        "table 6",
        "IDF (i), alignment (a) and distributional similarities (d) one by one",
        "R-precision: Tri5 11.6/11.0, Tri5Sem 13.4/13.7; any similarity of words helps, IDF seldom",
        f"Tri5 {tri5}, Tri5Sem {sem}, Tri5+Align {aligned}: alignment helps, IDF does not, company only in search",
        SOURCE,
        "`add_annotator N --kind kcca --option text=tri5 --option idf=root --option align=yes --option company=both`",
        Status.CLOSED,
        f"{PRINTED_SYSTEMS}, in a pool of {POOL}; Dimage (all captions of an image) replaces the British National "
        "Corpus. Letters: p ≤ 0.1, 0.05, 0.01 (once, twice, three times) against the cell without that part",
        markdown(["", *heads], rows),
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


def table_7(data: Path) -> Item:
    values = measured(data)
    pairs = [*((f"S@{k}", f"R@{k}") for k in (1, 5, 10)), *(("R-precision", metric) for metric in RECALLS)]
    rows = []
    for people, automatic in pairs:
        row: list[object] = [f"{people} and {automatic}"]
        for direction in ("annotation", "search"):
            judged, counted = (
                [figure_of(one, direction, metric) for one in values.values()] for metric in (people, automatic)
            )
            sign = -1 if automatic == "median rank" else 1
            row += [sign * spearman(judged, counted), sign * tau_b(judged, counted)]
        rows.append(row)
    return Item(
        "table 7",
        "rankings of systems by people's judgments and by the original item",
        "R@5, R@10 and the median rank rank systems as people do; R@1 less",
        "ρ of R-precision (annotation): "
        + ", ".join(f"{metric} {row[1]:.2f}" for metric, row in zip(RECALLS, rows[3:], strict=True)),
        SOURCE,
        "`analyse benchmarks --scores FILE.csv`",
        Status.CLOSED,
        f"{PRINTED_SYSTEMS}, in a pool of {POOL}: {len(values)} systems for 30. They "
        "find most originals among the first five, so that R@1 says more, and the median rank is 1 or 2",
        markdown(["", "ρ annotation", "τ annotation", "ρ search", "τ search"], rows),
    )
