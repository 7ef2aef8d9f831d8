"""ECCV Caption, main text (Chun et al. 2022): its numbered tables and figures."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.papers.book import Chapter, Item, Status
from benchmarks.papers.eccv_printed import METRICS, TABLE_5, averages, printed
from benchmarks.papers.eccv_public import KINDS, measured
from counterpart_metrics import map_at_r

PUBLIC = "public: COCO, CxC, ECCV Caption"
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
TABLE_3 = {
    "original": ("COCO Caption", 1_332, 6_305),
    "cxc>=3": ("CxC", 1_895, 8_906),
    "eccv": ("ECCV Caption", 11_279, 22_550),
}
ON_BENCHMARKS = {
    "mAP@R": ("eccv", "mAP@R"), "R-P": ("eccv", "R-Precision"), "ECCV R@1": ("eccv", "R@1"), "CxC R@1": ("cxc", "R@1"),
    "1K R@1": ("coco-1k", "R@1"), "5K R@1": ("coco-5k", "R@1"), "PMRP": ("pmrp", "PMRP ζ=0"),
}  # fmt: skip
FIGURE_4 = (("5K R@1", "CxC R@1"), ("5K R@1", "mAP@R"), ("5K R@1", "PMRP"), ("mAP@R", "PMRP"))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def figure_1(data: Path) -> Item:
    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    shown = {row["caption_id"]: row["image_id"] for row in rows if row["text"].strip(" .\n").lower() in FIGURE_1}
    positive = published_pairs(data)
    pairs = [(image, caption) for image in set(shown.values()) for caption in shown]
    return Item(
        "figure 1", "seven captions that fit each other's images", "only a caption's own image is positive",
        f"{len(shown)} captions of these words: {len(pairs)} pairs, {len(shown)} positive in COCO, "
        f"{sum(pair in positive for pair in pairs)} in ECCV Caption",
        PUBLIC, "page *Query* of a caption or an image; `show pair`", Status.EQUAL,
    )  # fmt: skip


def figure_2(data: Path) -> Item:
    images = sum(caption == FIGURE_2 for _, caption in published_pairs(data))
    return Item(
        "figure 2", "images of one caption by level", "originals, 100% YES and Partially YES",
        f"{images} images have this caption as a positive; it is not a query of the published file",
        PUBLIC, "page *Query* of the caption, with levels as colours", Status.CLOSED,
        "the levels that people gave are not published",
    )  # fmt: skip


def published_pairs(data: Path) -> set[tuple[int, int]]:
    """Return the positives of ECCV Caption as (image, caption)."""
    folder = data / "eccv_caption"
    of_images = json.loads((folder / "eccv_image_to_caption.json").read_text())
    of_captions = json.loads((folder / "eccv_caption_to_image.json").read_text())
    return {(int(image), caption) for image, found in of_images.items() for caption in found} | {
        (image, int(caption)) for caption, found in of_captions.items() for image in found
    }


def table_1(data: Path) -> Item:
    found = measured(data)["five"]
    return Item(
        "table 1", "the five annotators", "PVSE, VSRN, PCME, ViLT, CLIP",
        f"kinds {', '.join(KINDS)}: their top 5 of 144 drawn queries are 3,600 proposals, {found['pairs']:,} pairs",
        "drawn pictures, small weights of ours",
        "`add_annotator NAME --kind pvse --checkpoint FILE`, the others likewise",
        Status.DRAWN, "published weights are not in this workplace; their layouts load in the tests of the package",
    )  # fmt: skip


def pool_and_hits(data: Path) -> Item:
    found = measured(data)["pool"]
    pairs = found["pairs"]
    return Item(
        "section 3.2", "pairs and HITs of the top 5 of five annotators", "64,850 proposals: 46,424 pairs; 2,160 HITs",
        f"{found['proposals']:,} proposals: {pairs:,} pairs; "
        f"{-(-pairs // 16):,} HITs of 16 candidates, {-(-pairs // 18):,} of 18",
        "the 2,593 published queries, drawn lists", "`pool`, `pack --design eccv-18`", Status.DRAWN,
        "the annotators' lists are not public; 2,160 HITs of 20 pairs are 43,200, so the paper did not ask every pair",
    )  # fmt: skip


def clean_up(data: Path) -> Item:
    found = measured(data)["clean-up"]
    said = "; ".join(f"CxC below {below}: {n} suggested, {right} right" for below, (n, right) in found.items())
    return Item(
        "section 3.3", "18 meaningless and 14 wrong captions", "32 captions", said, PUBLIC,
        "`review cleanup COLLECTION --below 3`, then `review exclude`", Status.DIFFERS,
        "workers found the paper's; a score alone leaves out three, and a person decides each",
    )  # fmt: skip


def table_2(data: Path) -> Item:
    rows = {(row["name"], row["direction"]): row for row in measured(data)["positives"]["coverage"]}
    cells, short = [], []
    for source, (name, *paper) in TABLE_2.items():
        ours = [100 * rows[source, way][figure] for way in ("i2t", "t2i") for figure in ("precision", "recall")]
        said = [f"{one:.1f}" if one is not None else "–" for one in paper]
        cells.append([f"{name} (`{source}`)", *(f"{a} → {b:.1f}" for a, b in zip(said, ours, strict=True))])
        short.append(f"{source} {' '.join(f'{one:.1f}' for one in ours)}")
    return Item(
        "table 2", "precision and recall of COCO, CxC and plausible matches, image to text and text to image",
        "COCO 47.3 20.0 89.4 12.8; CxC 39.6 22.0 81.4 15.0; PM 8.3 74.6 10.5 69.0", "; ".join(short), PUBLIC,
        "`analyse positives V --sources \"original,cxc>=3\" --categories FILE --zeta 0,1,2`; with judgments "
        "`analyse annotators ROUND`", Status.DIFFERS,
        "the paper's truth are its raw judgments, which are not public; ours the published positives, which hold CxC "
        "and nearly all originals. The row PM comes out as of ζ = 2, within 0.5",
        "Paper → ours, in percent.\n\n" + table(["source", "I2T Prec", "I2T Recall", "T2I Prec", "T2I Recall"], cells),
    )  # fmt: skip


def table_3(data: Path) -> Item:
    found = measured(data)["released"]
    rows = [
        [name, f"{images:,}", f"{found[source]['images']:,}", f"{captions:,}", f"{found[source]['captions']:,}"]
        for source, (name, images, captions) in TABLE_3.items()
    ]
    heads = ["dataset", "images, paper", "ours", "captions, paper", "ours"]
    return Item(
        "table 3", "positive images and captions", "; ".join(f"{a:,} / {b:,}" for _, a, b in TABLE_3.values()),
        "; ".join(f"{row[2]} / {row[4]}" for row in rows) + " (two sixth captions of COCO among the 6,307)", PUBLIC,
        "`release V --merge \"eccv,cxc>=3\"` (`benchmarks.eccv_caption`)", Status.EQUAL,
        details=table(heads, rows) + "\n\nOurs counts two sixth captions of COCO as originals, which the paper leaves "
        "out: 6,305 without them. The row of human-verified positives (10,814 / 16,990) needs the raw judgments.",
    )  # fmt: skip


def figure_3a(data: Path) -> Item:
    rows = [row for row in measured(data)["positives"]["positives"] if row["source"] == "published"]
    said = {}
    for way in ("i2t", "t2i"):
        of_way = [row for row in rows if row["direction"] == way]
        counts = np.repeat([row["positives"] for row in of_way], [row["queries"] for row in of_way])
        said[way] = f"{counts.mean():.1f} (median {np.median(counts):.0f}, most {counts.max()})"
    return Item(
        "figure 3a", "positives of a query", "17.9 captions an image, 8.5 images a caption",
        f"{said['i2t']} captions an image, {said['t2i']} images a caption", PUBLIC,
        "`analyse positives V --plot FILE`", Status.EQUAL,
    )  # fmt: skip


def figure_3b(data: Path) -> Item:
    found = measured(data)["uncertainty"]
    taus = ", ".join(f"{side} {found[side]['tau_b']:.2f}" for side in ("images", "captions"))
    return Item(
        "figure 3b", "uncertainty of PCME by number of matches", "uncertain images have more captions",
        f"tau-b: {taus}", "drawn pictures, small weights of ours",
        "`analyse uncertainty COLLECTION --annotator A --matches V --plot FILE`",
        Status.DRAWN, "PCME's published weights and COCO's pictures are not here",
    )  # fmt: skip


def worked_values(data: Path) -> Item:
    right = {"A": range(2, 9), "B": [1], "C": range(6, 9), "D": [5]}
    found = {
        name: 100 * map_at_r([place if place in places else -place for place in range(1, 9)], set(range(1, 9)))
        for name, places in right.items()
    }
    return Item(
        "section 4.1", "mAP@R where 8 items are right", "A 66.0, B 12.5, C 10.3, D 2.5",
        ", ".join(f"{name} {value:.1f}" for name, value in found.items()), "worked by hand",
        "`counterpart_metrics.map_at_r`", Status.EQUAL,
    )  # fmt: skip


def table_4(data: Path) -> Item:
    overlap = measured(data)["overlap"]["word overlap"]
    ours = {one: 100 * overlap[name]["average"][metric]["value"] for one, (name, metric) in ON_BENCHMARKS.items()}
    scores = printed("4")
    rows = [[model, *(f"{found[metric]:.2f}" for metric in ours)] for model, found in scores.items()]
    rows.append(["**word overlap** (ours)", *(f"{value:.2f}" for value in ours.values())])
    means = averages()
    apart = max(abs(found[m] - means[model][m]) for model, found in scores.items() for m in ours if m != "1K R@1")
    return Item(
        "table 4", "25 models on ECCV Caption, CxC, COCO and PMRP", "BLIP: mAP@R 40.52, 5K R@1 73.11, PMRP 57.17",
        f"word overlap of captions: mAP@R {ours['mAP@R']:.2f}, 5K R@1 {ours['5K R@1']:.2f}, PMRP {ours['PMRP']:.2f}",
        "public: COCO's captions",
        "`evaluate --benchmark eccv,cxc,coco-1k,coco-5k,pmrp --rankings FILE --categories FILE`",
        Status.CLOSED, "the models' rankings are not public; the metrics agree with the authors' program to 1e-16",
        f"Word overlap reads an image's other captions, no picture. Printed cells are the means of tables D.2 and D.3 "
        f"to {apart:.3f}, but 1K R@1, which averages I2T-1K with T2I-5K.\n\n" + table(["model", *ours], rows),
    )  # fmt: skip


def figure_4(data: Path) -> Item:
    found = measured(data)["scores"]
    taus = {pair: tau(found, *pair) for pair in FIGURE_4}
    ranks = found["ranks"]
    moved = sorted(ranks, key=lambda model: -abs(ranks[model]["5K R@1"] - ranks[model]["mAP@R"]))[:5]
    rows = [[model, *(of[metric] for metric in ("5K R@1", "CxC R@1", "mAP@R", "PMRP"))] for model, of in ranks.items()]
    jumps = ", ".join(f"{model} {ranks[model]['5K R@1']} → {ranks[model]['mAP@R']}" for model in moved)
    return Item(
        "figure 4", "ranks of 25 models by metric", "kept from COCO to CxC R@1; rarely to mAP@R and PMRP",
        "; ".join(f"{a}, {b}: tau-b {value:.2f}" for (a, b), value in taus.items()) + f". Most moved: {jumps}",
        "printed tables D.2, D.3, 4", "`analyse benchmarks --scores FILE --plot FILE`", Status.EQUAL,
        details="Ranks.\n\n" + table(["model", "5K R@1", "CxC R@1", "mAP@R", "PMRP"], rows),
    )  # fmt: skip


def tau(found: Mapping, one: str, other: str) -> float:
    return found["tau_b"][found["metrics"].index(one)][found["metrics"].index(other)]


def table_5(data: Path) -> Item:
    found = measured(data)["scores"]
    names = list(TABLE_5)
    ours = {(a, b): tau(found, a, b) for a in names for b in names if a != b}
    apart = max(abs(value - TABLE_5[a][names.index(b)]) for (a, b), value in ours.items())
    with_map = ", ".join(f"{name} {ours['mAP@R', name]:.2f}" for name in METRICS if name != "mAP@R")
    rows = [
        [a, *("–" if a == b else f"{TABLE_5[a][names.index(b)]:.2f} → {ours[a, b]:.2f}" for b in names)] for a in names
    ]
    paper = ", ".join(f"{name} {TABLE_5['mAP@R'][names.index(name)]:.2f}" for name in METRICS if name != "mAP@R")
    return Item(
        "table 5", "Kendall's tau-b between metrics over 25 models", f"mAP@R with {paper}", f"with {with_map}",
        "printed tables D.2, D.3, 4", "`analyse benchmarks --scores FILE`", Status.EQUAL,
        details=f"Paper → ours; the largest difference is {apart:.4f}.\n\n" + table(["", *names], rows),
    )  # fmt: skip


def figure_5(data: Path) -> Item:
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
    return Item(
        "figure 5", "ranks of groups by 5K R@1, mAP@R, PMRP",
        "a: semi-hard behind by R@1, ahead by mAP@R; b: contrastive ones rise at PMRP; c: the best fall at PMRP",
        "; ".join(said), "printed tables D.2, D.3, 4", "`analyse benchmarks --scores FILE --plot FILE`", Status.EQUAL,
    )  # fmt: skip


CHAPTER = Chapter(
    "eccv-text",
    "ECCV Caption, main text (Chun et al. 2022)",
    items=(
        figure_1, table_1, pool_and_hits, table_2, table_3, clean_up, figure_2, figure_3a, figure_3b, worked_values,
        table_4, figure_4, table_5, figure_5,
    ),
)  # fmt: skip
