"""The systems of Hodosh et al. (2013) on the demo collection, in the layout of their table 11.

python -m benchmarks.classical [--images 1000] [--models 15] [--seed 0]

A tenth of the drawn pictures are for validation, half for training, and 40% are the test pool; each image of the pool
has one of its captions, as in the paper. The data differ from the paper's, so only the order of the systems can be
compared; it is printed below the table beside the paper's.
"""

import argparse
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from benchmarks.fixtures import fresh_database

SYSTEMS = {
    "NN": ("nn", {"text": "f1"}),
    "BoW1": ("kcca", {"text": "bow1"}),
    "BoW5": ("kcca", {"text": "bow5"}),
    "TagRank": ("kcca", {"text": "tagrank"}),
    "Tri5": ("kcca", {"text": "tri5"}),
    "Tri5Sem": ("kcca", {"text": "tri5sem"}),
}
PAPERS_ORDER = "NN < BoW1 < TagRank, BoW5, Tri5 (hardly apart) < Tri5Sem"
DEPTHS = (1, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1000, help="drawn pictures (default 1000)")
    parser.add_argument("--models", type=int, default=15, help="models whose rankings are merged (default 15)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the pictures and visual words (default 0)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    options = parser.parse_args()
    with fresh_database():
        run(options)


def run(options: argparse.Namespace) -> None:
    from demo.collection import make_demo_collection

    collection = make_demo_collection("table-11", images=options.images, seed=options.seed)
    train, images, captions = pools(collection, options.seed)
    print(
        f"{len(train.images)} training images, {len(train.validation.images)} validation images, {len(images)} in the"
        f" pool with one caption each; models={options.models}\n"
    )
    print(f"{'':9}|{'Image annotation':^31}|{'Image search':^31}|")
    print(f"{'':9}|{heading()}|{heading()}| seconds")
    rsums = {}
    for name in options.systems:
        started = perf_counter()
        figures = measured(*SYSTEMS[name], train, images, captions, options)
        row = "|".join("".join(f"{figure:7.1f} " for figure in side) for side in figures)
        print(f"{name:9}|{row}| {perf_counter() - started:6.0f}", flush=True)
        rsums[name] = sum(sum(side[:3]) for side in figures)
    print(f"\nhere, by the sum of all R@k: {' < '.join(f'{n} {rsums[n]:.1f}' for n in sorted(rsums, key=rsums.get))}")
    print(f"in the paper's table 3:      {PAPERS_ORDER}")


def heading() -> str:
    return "".join(f"{title:>7} " for title in ("R@1", "R@5", "R@10", "med r"))


def pools(collection, seed: int):
    """Return the training set with its validation split, the pool's images and one caption of each."""
    from mitl.hosting.plain_rows import plain_captions, plain_images

    rng = np.random.default_rng(seed)
    learned = list(collection.images.training().prefetch_related("captions"))
    places = rng.permutation(len(learned))
    n_chosen_on = len(learned) // 6
    training = examples([learned[p] for p in np.sort(places[n_chosen_on:])], None)
    validation = examples([learned[p] for p in np.sort(places[:n_chosen_on])], None, captions_each=1)
    images = list(collection.images.filter(split="test").prefetch_related("captions"))
    captions = [image.captions.all()[int(rng.integers(5))] for image in images]
    return (
        type(training)(training.images, training.captions, training.pairs, training.weights, validation),
        plain_images(images),
        plain_captions(captions, {}),
    )


def examples(images: Sequence, validation, captions_each: int = 5):
    from counterpart_annotators.training.learners import TrainingSet
    from mitl.hosting.plain_rows import plain_captions, plain_images

    captions = [caption for image in images for caption in image.captions.all()[:captions_each]]
    place = {image.pk: number for number, image in enumerate(images)}
    pairs = np.array([(place[caption.image_id], number) for number, caption in enumerate(captions)])
    plain = plain_images(images), plain_captions(captions, {})
    return TrainingSet(*plain, pairs, np.ones(len(pairs), dtype=np.float32), validation)


def measured(kind: str, wanted: dict, train, images: list, captions: list, options: argparse.Namespace):
    """Train a system; return R@1, R@5, R@10 in percent and the median rank, of image annotation and of image search."""
    from pathlib import Path

    from counterpart_annotators.checkpoints import Checkpoints
    from counterpart_annotators.kinds.kcca import annotator as kcca
    from counterpart_annotators.kinds.nn import annotator as nn
    from counterpart_annotators.options import defaults
    from counterpart_annotators.training.learners import TrainingPlan
    from mitl.annotators import kind_of
    from mitl.models import Direction

    module, opened = (nn, nn.NearestNeighbours) if kind == "nn" else (kcca, kcca.opened)
    settings = defaults(kind_of(kind).declared) | wanted
    settings |= {"models": options.models} if "models" in settings else {}
    plan = TrainingPlan(settings, "", options.seed, "cpu", Checkpoints(Path("/nowhere")))
    arrays = module.train(train, plan, lambda step, done, total: None).arrays
    annotator = opened(settings, arrays)
    sides = {Direction.IMAGE_TO_CAPTION: (images, captions), Direction.CAPTION_TO_IMAGE: (captions, images)}
    return [figures_of(ranked(annotator, direction, *side)) for direction, side in sides.items()]


def ranked(annotator, direction, queries: list, items: list) -> np.ndarray:
    """Return all items for each query, best first."""
    if hasattr(annotator, "lists_of"):
        return annotator.lists_of(direction, queries, items)[0]
    encode = {"i2t": (annotator.encode_images, annotator.encode_captions)}
    asking, asked = encode["i2t"] if direction == "i2t" else encode["i2t"][::-1]
    return np.argsort(-(asking(queries) @ asked(items).T), axis=1, kind="stable")


def figures_of(ranking: np.ndarray) -> tuple[float, ...]:
    """Return R@k in percent and the median rank; the original item of query i is item i."""
    ranks = 1 + np.argmax(ranking == np.arange(len(ranking))[:, None], axis=1)
    return *(100 * float((ranks <= depth).mean()) for depth in DEPTHS), float(np.median(ranks))


if __name__ == "__main__":
    main()
