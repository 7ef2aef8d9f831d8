"""ECCV Caption's appendix from public files: the list of C.1, figures C.1, C.2, D.1 and F.1."""

import csv
import gzip
import json
from pathlib import Path

from benchmarks.eccv_caption import MEANINGLESS, SEMANTICALLY_WRONG
from benchmarks.papers.appendix_round import drawn_round
from benchmarks.papers.book import Item, Status
from counterpart_metrics import map_at_r

BIRDS = 75083  # "A group of birds flying above the beach." of a picture of kites, figures C.1 and C.2
KITES = """Kites being flown along the coast line in the morning
People watch multi colored items fly above the beach.
A beach where people are flying kites at sunset.
A crowd of people flying kites on the beach.
Dozens of kite skiers out in the ocean
People in the water and parachutes overhead.
Many different sails flying over a large body of water.
There are many large kites flying above the beach.
Kites are flying over people on a beach.
A bunch of kites flying in the sky on the beach.
Several gliders floating on the ocean next to an island.
A couple flying a kite at dusk on the seaside.
People on a sunny beach flying various kites""".splitlines()
NOISY = (
    "A boy holding a tennis racquet on a tennis court.",
    "A large white airplane flies in the gray sky.",
    "Two men of some sort on a tennis court.",
)
RANKED = "A train on a train track near many trees"  # figure D.1
SKATEBOARD = "A guy does a trick on a skateboard."  # figure A.1
PUBLIC = "public: ECCV Caption, CxC, COCO's captions"


def appendix_c1(data: Path) -> Item:
    scores, own = _cxc(data), _owners(data)
    listed = MEANINGLESS + SEMANTICALLY_WRONG
    below = {limit: [c for c, image in own.items() if scores.get((image, c), 5.0) < limit] for limit in (2, 3)}
    found = {limit: len(set(ids) & set(listed)) for limit, ids in below.items()}
    matches = _eccv(data)
    images, captions = ({pair[place] for pair in matches[side]} for place, side in ((0, "i2t"), (1, "t2i")))
    every = matches["i2t"] | matches["t2i"] | {pair for pair, score in scores.items() if score >= 3}
    merged = []
    for left_out in ((), MEANINGLESS, listed):
        kept = [pair for pair in every if pair[1] not in left_out]
        merged.append((sum(c in captions for _, c in kept), sum(i in images for i, _ in kept)))
    sizes = ", ".join(f"{t2i:,} / {i2t:,}" for t2i, i2t in merged)
    return Item(
        "appendix C.1",
        "18 meaningless and 14 wrong captions, 1 doubled picture",
        "11,279 / 22,550 matches after exclusion",
        f"with none, 18, all 32 left out: {sizes}; CxC below 3 finds {found[3]} of the 32 and "
        f"{len(below[3]) - found[3]} others, below 2 finds {found[2]}",
        PUBLIC,
        "`review cleanup COLLECTION --below 3`, `release --merge 'eccv,cxc>=3' --exclude-captions FILE`",
        Status.EQUAL,
    )


def figure_c2(data: Path) -> Item:
    texts, own = _texts(data), _owners(data)
    image = own[BIRDS]
    published = {_plain(texts[caption]) for picture, caption in _eccv(data)["i2t"] if picture == image}
    drawn = sum(_plain(text) in published for text in KITES)
    return Item(
        "figure C.2",
        "matches of pictures and of a caption",
        "13 captions of the kites' picture (figure C.1)",
        f"{drawn} of 13 are among its {len(published)} published matches; the caption of figure C.1 is "
        + ("too" if _plain(texts[BIRDS]) in published else "not, as printed"),
        PUBLIC,
        "page *query* of a version; `import_matches --source eccv`",
        Status.EQUAL,
    )


def figure_c1(data: Path) -> Item:
    score = _cxc(data)[_owners(data)[BIRDS], BIRDS]
    return Item(
        "figure C.1",
        "a wrong caption and its picture",
        "A group of birds flying above the beach",
        f"{BIRDS}: “{_texts(data)[BIRDS].strip()}”; CxC gives it {score:.2f} of 5",
        PUBLIC,
        "`review cleanup COLLECTION --below 3`, page *pair*",
        Status.EQUAL,
    )


def figure_d1(data: Path) -> Item:
    values = [100 * map_at_r(ranking, range(8)) for ranking in _systems()]
    matches = _number_of_matches(data, RANKED)
    return Item(
        "figure D.1",
        f"five rankings for “{RANKED}”",
        "mAP@R with 8 matches: 66.0, 12.5, 10.3, 2.5",
        f"{', '.join(f'{value:.1f}' for value in values)}; the caption has {matches} matches",
        PUBLIC,
        "`pack --task preference`, `counterpart_metrics.map_at_r`",
        Status.EQUAL,
    )


def _systems() -> list[list[int]]:
    """Return the rankings A to D of a query whose matches are 0 to 7; others are negative."""
    wrong = list(range(-8, 0))
    return [[-1, *range(1, 8)], [0, *wrong[:7]], [*wrong[:5], 5, 6, 7], [*wrong[:4], 4, *wrong[4:7]]]


def figure_f1(data: Path) -> Item:
    counts = [_number_of_matches(data, text) for text in NOISY]
    found, wrong = drawn_round()["wrong"]
    return Item(
        "figure F.1",
        "three captions with wrong matches",
        "a racquet, a colour and a number are wrong",
        f"the captions have {', '.join(map(str, counts))} published matches; in the drawn round {wrong} of {found} are "
        "wrong",
        PUBLIC,
        "pages *pair* and *review*",
        Status.DIFFERS,
        "the paper names no ids of the pictures, and only a person sees what is wrong",
    )


def _number_of_matches(data: Path, text: str) -> int:
    captions = {caption for caption, words in _texts(data).items() if _plain(words) == _plain(text)}
    return sum(caption in captions for _, caption in _eccv(data)["t2i"])


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(" .").split())


def _captions(data: Path) -> list[dict]:
    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def _owners(data: Path) -> dict[int, int]:
    return {row["caption_id"]: row["image_id"] for row in _captions(data)}


def _texts(data: Path) -> dict[int, str]:
    more = (data / "coco_test_extra_captions.jsonl").read_text().splitlines()
    return {row["caption_id"]: row["text"] for row in [*_captions(data), *map(json.loads, more)]}


def _cxc(data: Path) -> dict[tuple[int, int], float]:
    """Return (image, caption) → CxC's score."""
    with gzip.open(data / "cxc/sits_test.csv.gz", "rt", newline="") as file:
        return {
            (int(row["image"][-16:-4]), int(row["caption"].rsplit(":", 1)[1])): float(row["agg_score"])
            for row in csv.DictReader(file)
        }


def _eccv(data: Path) -> dict[str, set[tuple[int, int]]]:
    """Return the published matches (image, caption) by direction."""
    images, captions = (
        json.loads((data / f"eccv_caption/eccv_{name}.json").read_text())
        for name in ("image_to_caption", "caption_to_image")
    )
    return {
        "i2t": {(int(image), caption) for image, listed in images.items() for caption in listed},
        "t2i": {(image, int(caption)) for caption, listed in captions.items() for image in listed},
    }
