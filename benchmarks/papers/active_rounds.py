"""Active learning (Jo et al.): its numbered tables, figures and algorithms."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers import active_bed as bed
from benchmarks.papers.book import Made, markdown
from counterpart_annotators.choosing import Way
from counterpart_annotators.embedding_plane import covered, plane
from counterpart_annotators.selection import core_set, hard_negative_scores, surpluses_of
from counterpart_topk.hubness.score_blocks import Matrix

# As printed: the sums of tables 3, A3 and A4, surplus and count of each condition; table 4 at e = 0, 1, 2.
SUMS = {
    1: (298.5, 296.6, 293.5, 294.8, 294.2, 296.8, 298.6, 296.3, 296.1, 296.4, 292.9, 293.8),
    5: (520.0, 517.8, 515.7, 517.2, 515.1, 516.7, 520.2, 518.6, 515.6, 515.9, 516.2, 515.9),
    10: (602.9, 599.6, 598.5, 598.5, 597.2, 599.4, 600.7, 600.3, 598.8, 599.5, 596.5, 599.2),
}
HARD = (
    (55.04, 44.85, 39.72),
    (92.64, 89.85, 88.17),
    (98.27, 97.51, 96.98),
    (56.23, 49.71, 47.11),
    (95.26, 93.94, 92.76),
    (99.24, 99.14, 99.19),
)


def means(found: dict[str, Any], name: str) -> list[str]:
    return [f"{step[name]['mean']:.1f}" for step in found["steps"] if name in step]


def curves(found: dict[str, Any], names: Sequence[str] = ("i2t R@1", "t2i R@1")) -> list[str]:
    return [figure for name in names for figure in means(found, name)]


def sum_of(found: dict[str, Any], k: int = 1) -> str:
    return f"{found[f'R@{k}-sum']['mean']:.1f}"


def table_1(data: Path) -> Made:
    """The captions' file names one picture that the dataset does not contain, KEY.jpg.1."""
    with gzip.open(data / "flickr8k" / "Flickr8k.token.txt.gz", "rt") as lines:
        keys = [line.partition("#")[0] for line in lines]
    texts = [key for key in keys if key.endswith(".jpg")]
    return Made(f"{len(set(texts)):,}, {len(texts):,}, {len(set(texts)):,}")


def algorithm_1(data: Path) -> Made:
    steps = bed.compared()
    reverse = bed.figures("embedding", "surplus,random", unpaired="captions")["scores"]
    images, captions = (
        f"surplus {sum_of(one)}, random {sum_of(other)}"
        for one, other in ((steps["surplus-full"], steps["random"]), (reverse["surplus"], reverse["random"]))
    )
    return Made(f"R@1-sum: captions asked for images, {images}; images asked for captions, {captions}")


def algorithm_2(data: Path) -> Made:
    """Compare with its lines as printed, one similarity at a time."""
    rng = np.random.default_rng(0)
    unpaired, paired, texts = (rng.normal(size=(n, 8)) for n in (60, 40, 40))

    def s(x: np.ndarray, t: np.ndarray) -> float:
        return float(x @ t / np.sqrt((x @ x) * (t @ t)))

    xi = [max(s(z, t) for place, z in enumerate(paired) if place != j) for j, t in enumerate(texts)]
    h = [sum(max(s(x, t) - limit, 0) for t, limit in zip(texts, xi, strict=True)) for x in unpaired]
    apart = float(np.abs(hard_negative_scores(unpaired, paired, texts) - h).max())
    return Made(
        f"its lines, one similarity at a time, and ours differ by at most {max(apart, 1e-15):.0e} on 60 x 40 vectors"
    )


def figure_1(data: Path) -> Made:
    """Show the image of the highest score, and the texts that it exceeds by most."""
    state = bed.first_round()
    unpaired = np.setdiff1d(np.arange(len(state.lessons.images)), state.paired)
    images, texts = state.opened.encode(state.lessons.images, [state.lessons.captions[place] for place in state.paired])
    similarity = Matrix(images[np.concatenate([unpaired, state.paired])] @ texts.T)
    best = int(np.searchsorted(unpaired, state.chosen([Way("best", "surplus")], 1, seed=0)["chosen best"][0]))
    over = surpluses_of(similarity, best)
    rows = [(f"{over[place]:.3f}", state.lessons.captions[state.paired[place]].text) for place in np.argsort(-over)[:3]]
    own = state.lessons.captions[unpaired[best]].text
    return Made(
        f"h = {over.sum():.2f} over {(over > 0).sum()} of {len(over)} texts; the image's own caption: {own}",
        markdown(("w", "text"), rows),
    )


def table_3(data: Path) -> Made:
    return Made(sums_of(1).ours)


def table_a2(data: Path) -> Made:
    return sums_of(1)


def table_a3(data: Path) -> Made:
    return sums_of(5)


def table_a4(data: Path) -> Made:
    return sums_of(10)


def sums_of(k: int) -> Made:
    """Return the sums of R@k of all conditions and weights, with every step."""
    found = bed.grid()
    ours = {name: one[f"R@{k}-sum"]["mean"] for name, one in found.items()}
    steps = [f"{side}, e={e}" for side in ("text", "image") for e in range(4)]
    rows = (
        [name, f"{paper} → {ours[name]:.1f}", *curves(one, (f"i2t R@{k}", f"t2i R@{k}"))]
        for (name, one), paper in zip(found.items(), SUMS[k], strict=True)
    )
    return Made(
        f"{min(ours.values()):.1f} to {max(ours.values()):.1f}; best {max(ours, key=ours.__getitem__)}",
        markdown(("condition, weight", f"R@{k}-sum, paper → ours", *steps), rows),
    )


def table_4(data: Path) -> Made:
    found = bed.grid()
    names = [f"{batch} + top-{k}" for batch, k in bed.CONDITIONS]
    ours = {name: means(found[f"{name}, surplus"], "hard negatives") for name in names}
    rows = (
        (name, *(f"{paper} → {mine}" for paper, mine in zip(printed, ours[name], strict=True)))
        for name, printed in zip(names, HARD, strict=True)
    )
    return Made(
        "; ".join(f"{name}: {', '.join(ours[name])}" for name in ("full + top-1", "full + top-5", "mini + top-1")),
        "Paper → ours.\n\n" + markdown(("condition", "e=0", "e=1", "e=2"), rows),
    )


def figure_2(data: Path) -> Made:
    shown = _by_mini_batch() | {"full": bed.compared()["surplus-full"], "random": bed.compared()["random"]}
    return Made(", ".join(f"{name}: {sum_of(one)}" for name, one in shown.items()))


def _by_mini_batch() -> dict[str, Any]:
    found = bed.compared()
    return {f"mini {ours} (paper {theirs:,})": found[f"surplus-mini-{ours}"] for ours, theirs in bed.SIZES.items()}


def figure_3(data: Path) -> Made:
    """Do chosen images lie all over the plane of unpaired ones?"""
    state = bed.first_round()
    unpaired = np.setdiff1d(np.arange(len(state.lessons.images)), state.paired)
    embeddings, _ = state.opened.encode(state.lessons.images, state.lessons.captions[:1])
    places = plane(embeddings[unpaired], seed=0)
    n = round(0.05 * len(state.lessons.images))
    best = np.searchsorted(unpaired, state.chosen([Way("best", "surplus")], n, seed=0)["chosen best"])
    draws = [np.random.default_rng(seed).choice(len(unpaired), n, replace=False) for seed in range(100)]
    by_chance = [covered(places, draw) for draw in draws]
    far = core_set(embeddings[state.paired], embeddings[unpaired], n)
    return Made(
        f"share of the plane's cells with one of {n} chosen images: surplus {covered(places, best):.0f}%, Core-set"
        f" {covered(places, far):.0f}%, random {np.mean(by_chance):.0f}% (100 draws, {min(by_chance):.0f} to"
        f" {max(by_chance):.0f})"
    )


def figure_4(data: Path) -> Made:
    """With the curves of figure 2."""
    found = bed.compared()
    shown = {"surplus": found["surplus-full"], f"surplus, mini {bed.MINI}": found[f"surplus-mini-{bed.MINI}"]}
    shown |= {name: found[name] for name in ("core-set", "random")}
    rows = {name: one for name, one in shown.items() if "mini" not in name} | _by_mini_batch()
    heads = ("choice", "R@1-sum", *(f"{side}, {share}%" for side in ("text", "image") for share in (30, 35, 40, 45)))
    return Made(
        ", ".join(f"{name} {sum_of(one)}" for name, one in shown.items()) + " (R@1-sum)",
        markdown(heads, ((name, sum_of(one), *curves(one)) for name, one in rows.items())),
    )


def table_a1(data: Path) -> Made:
    """With the paper's model."""
    found = bed.figures("imram", "core-set,core-set-bags", seeds=1)["scores"]
    printed = {"core-set": (41.2, 45.2, 30.2, 33.2, 295.1), "core-set-bags": (41.7, 46.3, 30.1, 32.9, 295.9)}
    rows = []
    for name, one in found.items():
        sides = [means(one, f"{side} R@1") for side in ("i2t", "t2i")]
        ours = (*(side[e] for side in sides for e in (1, 3)), sum_of(one))
        rows.append((name, *(f"{a} → {b}" for a, b in zip(printed[name], ours, strict=True))))
    return Made(
        f"mean {sum_of(found['core-set'])}, bags {sum_of(found['core-set-bags'])}",
        "Paper → ours.\n\n" + markdown(("features", "text e=1", "text e=3", "image e=1", "image e=3", "R@1-sum"), rows),
    )
