"""ECCV Caption's appendix from public files: the list of C.1, figures C.1, C.2, D.1 and F.1."""

import json
from pathlib import Path

from benchmarks.papers.appendix_round import drawn_round
from benchmarks.papers.book import Made
from benchmarks.papers.eccv_public import measured
from benchmarks.papers.public_files import coco_captions, cxc_scores, positives
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


def appendix_c1(data: Path) -> Made:
    left_out, found = measured(data)["left out"], measured(data)["clean-up"]
    sizes = ", ".join(f"{t2i:,} / {i2t:,}" for t2i, i2t in left_out.values())
    return Made(
        f"with {', '.join(left_out)} left out: {sizes}; CxC below 3 finds {found[3][1]} of the 32 and "
        f"{found[3][0] - found[3][1]} others, below 2 finds {found[2][1]}",
        "The one pair that the union adds to the published file is CxC's, of caption 462530 (“I really cant "
        "see this image very well.”). Two of ECCV Caption's pairs name sixth captions, 144675 and 467259.",
    )


def figure_c2(data: Path) -> Made:
    texts, own = _texts(data), _owners(data)
    image = own[BIRDS]
    published = {_plain(texts[caption]) for picture, caption in positives(data)["images"] if picture == image}
    drawn = sum(_plain(text) in published for text in KITES)
    return Made(
        f"{drawn} of 13 are among its {len(published)} published matches; the caption of figure C.1 is "
        + ("too" if _plain(texts[BIRDS]) in published else "not, as printed")
    )


def figure_c1(data: Path) -> Made:
    score = cxc_scores(data)[_owners(data)[BIRDS], BIRDS]
    return Made(f"{BIRDS}: “{_texts(data)[BIRDS].strip()}”; CxC gives it {score:.2f} of 5")


def figure_d1(data: Path) -> Made:
    values = [100 * map_at_r(ranking, range(8)) for ranking in _systems()]
    matches = _number_of_matches(data, RANKED)
    return Made(f"{', '.join(f'{value:.1f}' for value in values)}; the caption has {matches} matches")


def _systems() -> list[list[int]]:
    """Return the rankings A to D of a query whose matches are 0 to 7; others are negative."""
    wrong = list(range(-8, 0))
    return [[-1, *range(1, 8)], [0, *wrong[:7]], [*wrong[:5], 5, 6, 7], [*wrong[:4], 4, *wrong[4:7]]]


def figure_f1(data: Path) -> Made:
    counts = [_number_of_matches(data, text) for text in NOISY]
    found, wrong = drawn_round()["wrong"]
    return Made(
        f"the captions have {', '.join(map(str, counts))} published matches; in the drawn round {wrong} of {found} are "
        "wrong"
    )


def _number_of_matches(data: Path, text: str) -> int:
    captions = {caption for caption, words in _texts(data).items() if _plain(words) == _plain(text)}
    return sum(caption in captions for _, caption in positives(data)["captions"])


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(" .").split())


def _owners(data: Path) -> dict[int, int]:
    return {row["caption_id"]: row["image_id"] for row in coco_captions(data)}


def _texts(data: Path) -> dict[int, str]:
    more = (data / "coco_test_extra_captions.jsonl").read_text().splitlines()
    return {row["caption_id"]: row["text"] for row in [*coco_captions(data), *map(json.loads, more)]}
