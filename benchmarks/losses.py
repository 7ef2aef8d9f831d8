"""HAL compared with SUM and MAX on one model and the same seeds, as in table 1 of the hubness paper.

python -m benchmarks.losses [--images 600] [--seeds 3] [--losses sum max hal]

The model is VSE over fixed image vectors, with a GRU and a linear map; the paper uses VGG19's vectors, we use
similarities to a dictionary of patches. Learning rates are the paper's: 0.001, divided by ten twice, and for MAX
0.0002, divided by ten once; margin 0.2, k = 3, batches of 128. There are fifty times fewer pairs than in Flickr30k,
so we train for 60 epochs instead of 30. 40% of the drawn pictures are the test split; a tenth of the others select the
epoch. The data differ from the paper's, so only the order of the losses can be compared; it is printed below the table
beside the paper's. rsum: higher is better; hs-sum: lower is better (fewer hubs).
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.fixtures import fresh_database

PAPER = {"rsum": "max 281.4 < sum 291.0 < hal 303.2", "hs-sum": "hal 9.03 < sum 10.77 < max 10.83"}
LOSSES = ("sum", "max", "hal", "hal-max", "hal-logsumexp", "semi-hard")
QUICK, SLOW = {"rate": 1e-3, "step": 20}, {"rate": 2e-4, "step": 30}
RATES = {loss: SLOW if loss in ("max", "hal-max") else QUICK for loss in LOSSES}
MODEL = {"trunk": "none", "frozen": "nothing", "word": 32, "embed": 64, "rarest": 2, "epochs": 60}
COLLECTION = "table-1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=600, help="drawn pictures (default 600)")
    parser.add_argument("--seeds", type=int, default=3, help="trainings per loss (default 3)")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=list(LOSSES[:3]))
    parser.add_argument("--one-rate", action="store_true", help="learning rate 0.001 for all losses, also MAX")
    options = parser.parse_args()
    with fresh_database(), tempfile.TemporaryDirectory() as folder:
        run(options, Path(folder))


def run(options: argparse.Namespace, folder: Path) -> None:
    from demo.collection import make_demo_collection

    collection = make_demo_collection(COLLECTION, images=options.images)
    write_vectors(collection, folder)
    pool = test_split(collection)
    print(f"{len(pool.images)} test pictures, {len(pool.captions)} captions; {options.seeds} seeds per loss\n")
    print(f"{'loss':>14}  seed    rsum  hs-sum  seconds")
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(options.seeds):
        for loss in options.losses:
            started = perf_counter()
            rates = QUICK if options.one_rate else RATES[loss]
            rsum, hubs = figures(train(collection, loss, seed, folder, rates), pool)
            found.setdefault(loss, []).append((rsum, hubs))
            print(f"{loss:>14}  {seed:4}  {rsum:6.1f}  {hubs:6.2f}  {perf_counter() - started:7.0f}", flush=True)
    summarise(found)


def write_vectors(collection, folder: Path) -> None:
    """Write a unit vector per picture: its standardised similarities to patches of the training pictures."""
    from mitl.annotators.embedding.patches import PICTURE_FEATURES, read_pictures
    from mitl.hosting.plain_rows import plain_images

    patches = PICTURE_FEATURES["patches"]
    training = patches.learn(read_pictures(plain_images(collection.images.training())), 0)
    images = list(collection.images.order_by("pk"))
    rows = patches.of(read_pictures(plain_images(images)), training)
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-3)
    np.save(folder / "all_ims.npy", rows / np.linalg.norm(rows, axis=1, keepdims=True))
    (folder / "all_ids.txt").write_text("\n".join(image.key for image in images))


def test_split(collection):
    """Return the gallery and its original pairs."""
    from corpus.matches import known_pairs
    from counterpart_annotators.training.learners import TrainingSet
    from mitl.hosting.plain_rows import plain_captions, plain_images

    images, captions = (list(rows.gallery().order_by("pk")) for rows in (collection.images, collection.captions))
    image_ids, caption_ids = ([row.pk for row in rows] for rows in (images, captions))
    pairs = known_pairs(collection, "original")
    pairs = pairs[np.isin(pairs[:, 0], image_ids)]
    places = np.stack([np.searchsorted(image_ids, pairs[:, 0]), np.searchsorted(caption_ids, pairs[:, 1])], axis=1)
    plain = plain_images(images), plain_captions(captions, {})
    return TrainingSet(*plain, places, np.ones(len(places), dtype=np.float32))


def train(collection, loss: str, seed: int, folder: Path, rates: dict[str, float]):
    """Return a trained annotator."""
    from mitl.annotators import load
    from mitl.registration import add_annotator
    from mitl.training.trainer import train_annotator

    name = f"{loss}-{seed}"
    add_annotator(name, kind="vse", options={**MODEL, **rates, "vectors": str(folder)})
    return load(train_annotator(name, collection=collection, loss=loss, seed=seed, validation="held-out"))


def figures(annotator, pool) -> tuple[float, float]:
    """Return rsum and hs-sum on the test split."""

    from counterpart_annotators.training.recall import measure
    from counterpart_topk.hubness import Transposed, hs_sum
    from counterpart_topk.hubness.score_blocks import best_places

    blocks = annotator.scores(pool.images, pool.captions)
    lists = [(best_places(side, 10)[0], side.shape[1]) for side in (blocks, Transposed(blocks))]
    return measure(annotator, pool)["rsum"], hs_sum(lists)


def summarise(found: dict[str, list[tuple[float, float]]]) -> None:
    """Print means, deviations and the order of the losses, beside the paper's."""
    print(f"\n{'loss':>14}         rsum           hs-sum")
    for loss, runs in found.items():
        means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        print(f"{loss:>14}  {means[0]:6.1f} +- {spread[0]:4.1f}  {means[1]:6.2f} +- {spread[1]:4.2f}")
    for place, name in enumerate(("rsum", "hs-sum")):
        means = {loss: float(np.mean(runs, axis=0)[place]) for loss, runs in found.items()}
        order = " < ".join(f"{loss} {means[loss]:.{1 + place}f}" for loss in sorted(means, key=means.get))
        print(f"\n{name} here:      {order}\n{name} in table 1: {PAPER[name]} (GRU + VGG19, Flickr30k)")


if __name__ == "__main__":
    main()
