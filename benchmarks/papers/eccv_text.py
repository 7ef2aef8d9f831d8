"""ECCV Caption, main text (Chun et al. 2022): its numbered tables and figures."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.papers.book import Made, markdown, numbers
from benchmarks.papers.eccv_printed import METRICS, TABLE_5, averages, printed
from benchmarks.papers.eccv_public import KINDS, measured
from benchmarks.papers.public_files import coco_captions, positives

FIGURE_1 = (
    "the man is playing tennis with a racket", "a man taking a swing at a tennis ball",
    "a man on a court swinging a tennis racket", "a tennis player swinging a racket at a ball",
    "a person hitting a tennis ball with a tennis racket", "the man is playing tennis on the court",
    "a man with a tennis racket swings at a tennis ball",
)  # fmt: skip
FIGURE_2 = 334312  # "A herd of zebras standing together in the field"
TABLE_2 = {
    "original": ("COCO Caption", 47.3, 20.0, 89.4, 12.8),
    "cxc>=3": ("CxC", 39.6, 22.0, 81.4, 15.0),
    "PM ζ=0": ("Plausible Match", None, None, None, None),
    "PM ζ=1": ("Plausible Match", None, None, None, None),
    "PM ζ=2": ("Plausible Match", 8.3, 74.6, 10.5, 69.0),
}
HEADS_2 = ("I2T Prec", "I2T Recall", "T2I Prec", "T2I Recall")
TABLE_3 = {  # source: images / captions as printed
    "original": ("COCO Caption", "1,332 / 6,305"),
    "cxc>=3": ("CxC", "1,895 / 8,906"),
    "eccv": ("ECCV Caption", "11,279 / 22,550"),
}
ON_BENCHMARKS = {
    "mAP@R": ("eccv", "mAP@R"), "R-P": ("eccv", "R-Precision"), "ECCV R@1": ("eccv", "R@1"), "CxC R@1": ("cxc", "R@1"),
    "1K R@1": ("coco-1k", "R@1"), "5K R@1": ("coco-5k", "R@1"), "PMRP": ("pmrp", "PMRP ζ=0"),
}  # fmt: skip
FIGURE_4 = (("5K R@1", "CxC R@1"), ("5K R@1", "mAP@R"), ("5K R@1", "PMRP"), ("mAP@R", "PMRP"))


def figure_1(data: Path) -> Made:
    rows = coco_captions(data)
    shown = {row["caption_id"]: row["image_id"] for row in rows if row["text"].strip(" .\n").lower() in FIGURE_1}
    positive = set.union(*positives(data).values())
    pairs = [(image, caption) for image in set(shown.values()) for caption in shown]
    return Made(
        f"{len(shown)} captions of these words: {len(pairs)} pairs, {len(shown)} positive in COCO, "
        f"{sum(pair in positive for pair in pairs)} in ECCV Caption"
    )


def figure_2(data: Path) -> Made:
    images = sum(caption == FIGURE_2 for _, caption in set.union(*positives(data).values()))
    return Made(f"{images} images have this caption as a positive; it is not a query of the published file")


def table_1(data: Path) -> Made:
    found = measured(data)["five"]
    return Made(
        f"kinds {', '.join(KINDS)}: their top 5 of 144 drawn queries are 3,600 proposals, {found['pairs']:,} pairs"
    )


def section_32(data: Path) -> Made:
    found = measured(data)["pool"]
    pairs = found["pairs"]
    return Made(
        f"{found['proposals']:,} proposals: {pairs:,} pairs; "
        f"{-(-pairs // 16):,} HITs of 16 candidates, {-(-pairs // 18):,} of 18"
    )


def table_2(data: Path) -> Made:
    rows = {(row["name"], row["direction"]): row for row in measured(data)["positives"]["coverage"]}
    cells, short = [], []
    for source, (name, *paper) in TABLE_2.items():
        ours = [100 * rows[source, way][figure] for way in ("i2t", "t2i") for figure in ("precision", "recall")]
        said = [f"{one:.1f}" if one is not None else "–" for one in paper]
        cells.append([f"{name} (`{source}`)", *(f"{a} → {b:.1f}" for a, b in zip(said, ours, strict=True))])
        short.append(f"{source} {numbers(ours, between=' ')}")
    return Made("; ".join(short), "Paper → ours, in percent.\n\n" + markdown(["source", *HEADS_2], cells))


def table_3(data: Path) -> Made:
    found = measured(data)["released"]
    rows = [[name, paper, _sizes(found[source])] for source, (name, paper) in TABLE_3.items()]
    short = "; ".join(row[2] for row in rows)
    played = measured(data)["round"]
    of_round = played["sources"]
    rows.append(["judged by people; ours in the round below", "10,814 / 16,990", _sizes(of_round["judged"])])
    rows.append(["with CxC and the originals: the round's version", "–", _sizes(of_round["overlap-v1"])])
    return Made(
        f"{short} (two sixth captions of COCO among the 6,307)",
        markdown(["dataset", "images / captions, paper", "ours"], rows) + "\n\n" + _whole_round(played),
    )


def _sizes(row: Mapping) -> str:
    return f"{row['images']:,} / {row['captions']:,}"


def _whole_round(played: Mapping) -> str:
    """Return what a whole round of one cheap annotator brings, from `pool` to `verify`."""
    times, cost = played["sources"]["overlap-v1"], played["cost"]
    sharing = played["shared_images"] + played["shared_captions"]
    return (
        "The raw judgments of people are not public. A whole round over the same queries, with word overlap alone and "
        f"a simulated crowd that knows ECCV Caption's positives: {played['pairs']:,} pairs (top 5) in "
        f"{played['hits']:,} HITs (`eccv-18`) with {played['positives']:,} positive and {played['negatives']:,} "
        f"negative controls; pairs of a HIT that share an image or a caption: {sharing or 'none'}; "
        f"${cost['browser']['total']}, with 20% fees ${cost['mturk']['total']}. {played['submissions']:,} answer sets "
        f"of 200 careful workers, {played['excluded']:,} excluded and judged again. Its version has "
        f"{times['times_images']:.2f} times the images and {times['times_captions']:.2f} times the captions of the "
        f"originals, {played['share found']:.1%} of ECCV Caption's {played['published']:,} positives, and passes "
        "`verify`."
    )


def figure_3a(data: Path) -> Made:
    rows = [row for row in measured(data)["positives"]["positives"] if row["source"] == "published-0"]
    said = {}
    for way in ("i2t", "t2i"):
        of_way = [row for row in rows if row["direction"] == way]
        counts = np.repeat([row["positives"] for row in of_way], [row["queries"] for row in of_way])
        said[way] = f"{counts.mean():.1f} (median {np.median(counts):.0f}, most {counts.max()})"
    return Made(f"{said['i2t']} captions an image, {said['t2i']} images a caption")


def figure_3b(data: Path) -> Made:
    found = measured(data)["uncertainty"]
    taus = ", ".join(f"{side} {found[side]['tau_b']:.2f}" for side in ("images", "captions"))
    return Made(f"tau-b: {taus}")


def table_4(data: Path) -> Made:
    overlap = measured(data)["overlap"]["word overlap"]
    ours = {one: 100 * overlap[name]["average"][metric]["value"] for one, (name, metric) in ON_BENCHMARKS.items()}
    scores, means = printed("4"), averages()
    apart = max(abs(found[m] - means[model][m]) for model, found in scores.items() for m in ours if m != "1K R@1")
    rows = [
        (f"{name} of the paper's 25", *(f"{end(found[m] for found in scores.values()):.2f}" for m in ours))
        for name, end in (("least", min), ("most", max))
    ]
    rows.append(("word overlap, ours", *(f"{value:.2f}" for value in ours.values())))
    return Made(
        f"word overlap of captions: mAP@R {ours['mAP@R']:.2f}, 5K R@1 {ours['5K R@1']:.2f}, PMRP {ours['PMRP']:.2f}",
        f"Word overlap reads an image's other captions, no picture. Printed cells are the means of tables D.2 and D.3 "
        f"to {apart:.3f}, but 1K R@1, which averages I2T-1K with T2I-5K.\n\n" + markdown(["", *ours], rows),
    )


def figure_4(data: Path) -> Made:
    found = measured(data)["scores"]
    taus = {pair: tau(found, *pair) for pair in FIGURE_4}
    ranks = found["ranks"]
    moved = sorted(ranks, key=lambda model: -abs(ranks[model]["5K R@1"] - ranks[model]["mAP@R"]))[:5]
    jumps = ", ".join(f"{model} {ranks[model]['5K R@1']} → {ranks[model]['mAP@R']}" for model in moved)
    return Made("; ".join(f"{a}, {b}: tau-b {value:.2f}" for (a, b), value in taus.items()) + f". Most moved: {jumps}")


def tau(found: Mapping, one: str, other: str) -> float:
    return found["tau_b"][found["metrics"].index(one)][found["metrics"].index(other)]


def table_5(data: Path) -> Made:
    found = measured(data)["scores"]
    names = list(TABLE_5)
    cells = {(a, b): (TABLE_5[a][names.index(b)], tau(found, a, b)) for a, b in combinations(names, 2)}
    apart = max(abs(paper - ours) for paper, ours in cells.values())
    of_map = {next(one for one in pair if one != "mAP@R"): both for pair, both in cells.items() if "mAP@R" in pair}
    paper, ours = (
        ", ".join(f"{name} {of_map[name][place]:.2f}" for name in METRICS if name in of_map) for place in (0, 1)
    )
    rows = [
        [a, *("{:.2f} → {:.2f}".format(*cells[a, b]) if (a, b) in cells else "" for b in names[1:])] for a in names[:-1]
    ]
    return Made(
        f"with {ours}", f"Paper → ours; the largest difference is {apart:.4f}.\n\n" + markdown(["", *names[1:]], rows)
    )


def figure_5(data: Path) -> Made:
    ranks = measured(data)["scores"]["ranks"]
    groups = {
        "a: semi-hard against hardest negatives": ("PVSE K=1, SHM", "PVSE K=1, HNM"),
        "b: contrastive": ("CLIP ViT-L/14", "PVSE K=1, Sum triplet"),
        "c: best": ("BLIP", "VinVL", "VSE infty (WSL grid)"),
    }
    said = []
    for title, models in groups.items():
        of = [f"{model} {' '.join(str(ranks[model][one]) for one in ('5K R@1', 'mAP@R', 'PMRP'))}" for model in models]
        said.append(f"{title}: {', '.join(of)}")
    return Made("; ".join(said))  # fmt: skip
