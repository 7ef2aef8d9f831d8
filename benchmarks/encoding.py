"""Speed of annotators' encoding, compared with a plain loop in torch or transformers, in one run.

    python -m benchmarks.encoding [--annotators pvse clip ...] [--images 32] [--captions 256] [--small] [--device cuda]

Weights are random, sizes are the published ones (--small: the demo's). Measured: reading and preparing pictures, and
passing pictures and captions through the network. The plain loop uses batches of 32 in the given order, pads captions
as transformers does, and opens pictures one by one. ViLT scores pairs: 16 captions of a picture at a time. Both
must compute the same numbers, which is checked. On a GPU (--device cuda) both compute there. Reported: median seconds,
plain / ours, and the range of that ratio.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.fixtures import fresh_database

BATCH = 32
PAIRED = 16
RECURRENT = ("pvse", "vsrn", "pcme", "vse")
ANNOTATORS = (*RECURRENT, "clip", "vilt")
UNTRAINED = {"epochs": 0}
FREE_TRUNK = {"frozen": "nothing", "rarest": 1}
TOLERANCE = {"cpu": 1e-4, "cuda": 2e-3}  # cuDNN rounds the terms of convolutions to ten bits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotators", nargs="+", choices=ANNOTATORS, default=list(ANNOTATORS))
    parser.add_argument("--images", type=int, default=32, help="pictures to encode (default 32)")
    parser.add_argument("--captions", type=int, default=256, help="captions to encode (default 256)")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (default 3)")
    parser.add_argument("--small", action="store_true", help="networks of the demo's sizes")
    parser.add_argument("--device", choices=list(TOLERANCE), default="cpu", help="where the networks compute")
    options = parser.parse_args()
    with fresh_database():
        run(options)


def run(options: argparse.Namespace) -> None:
    from demo.collection import make_demo_collection
    from mitl.hosting.plain_rows import plain_captions, plain_images

    collection = make_demo_collection("encoded", images=max(40, options.images), seed=7)
    images = plain_images(collection.images.order_by("pk")[: options.images])
    captions = plain_captions(collection.captions.order_by("pk")[: options.captions], {})
    print(f"{'kind':>8}  {'what':>8}  {'number':>6}  {'ours s':>7}  {'plain s':>7}  {'plain / ours':>12}  range")
    for name in options.annotators:
        annotator = untrained(name, options.small, collection, options.device)
        for what, number, ours, plain in contests(name, annotator, images, captions):
            tolerance = TOLERANCE[options.device]
            report(name, what, number, measure_in_turn(ours, plain, options.repeats, tolerance))


Encode = Callable[[], np.ndarray]


def contests(name: str, annotator, images, captions) -> Iterator[tuple[str, int, Encode, Encode]]:
    """Yield what is encoded, the number of items, our encoder and the plain loop."""
    if name == "vilt":
        pairs = paired(len(images), len(captions))
        scores = annotator.ready(images, captions)
        yield (
            "pairs",
            len(pairs) * PAIRED,
            lambda: our_pairs(scores, pairs),
            plain_pairs(scores, images, captions, pairs),
        )
        return
    our_images, our_captions = encoders(annotator, name)
    their_images, their_captions = plain_recurrent(annotator) if name in RECURRENT else plain_towers(annotator)
    yield "images", len(images), lambda: our_images(images), lambda: in_batches(their_images, images)
    yield (
        "captions",
        len(captions),
        lambda: in_batches(our_captions, captions, 128),
        lambda: in_batches(their_captions, captions),
    )


def encoders(annotator, name: str) -> tuple[Callable, Callable]:
    """Return the encoders of the network alone; PCME's annotator would also draw samples."""
    from counterpart_annotators.nn.recurrent import Embedder

    if name in RECURRENT:
        return partial(Embedder.encode_images, annotator), partial(Embedder.encode_captions, annotator)
    return annotator.encode_images, annotator.encode_captions


def untrained(name: str, small: bool, collection, device: str) -> Any:
    """Return an annotator of this kind with random weights."""
    from demo.demo_annotators import ANNOTATORS as DEMO
    from mitl.annotators import load
    from mitl.registration import add_annotator
    from mitl.training.trainer import train_annotator

    sizes = dict(DEMO[name].settings) if small and name in DEMO else {}
    settings = sizes | UNTRAINED | (FREE_TRUNK | {"trunk_from": ""} if name in RECURRENT else {})
    add_annotator(name, kind=name, options=settings)
    return load(train_annotator(name, collection=collection, validation="none"), device)


def in_batches(encode: Callable[[Sequence], np.ndarray], rows: Sequence, size: int = BATCH) -> np.ndarray:
    return np.concatenate([encode(rows[start : start + size]) for start in range(0, len(rows), size)])


def plain_recurrent(annotator) -> tuple[Callable, Callable]:
    import torch

    from counterpart_annotators.nn.imagenet import evaluation_view

    network = annotator._network.eval()
    vocabulary = annotator._vocabulary
    side = annotator._source._side
    device = device_of(network)

    @torch.inference_mode()
    def images(rows):
        views = [torch.from_numpy(evaluation_view(row.open(), side)) for row in rows]
        return network.embed_pictures(torch.stack(views).to(device)).cpu().numpy()

    @torch.inference_mode()
    def captions(rows):
        ids, lengths = vocabulary.batch([row.text for row in rows])
        return network.embed_captions(ids.to(device), lengths).cpu().numpy()

    return images, captions


def plain_towers(annotator) -> tuple[Callable, Callable]:
    import torch
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    model = annotator._model
    network = model.network.eval()
    device = device_of(network)
    side = model.network.config.vision_config.image_size
    prepare = CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    context = network.config.text_config.max_position_embeddings

    @torch.inference_mode()
    def images(rows):
        pixels = prepare([row.open() for row in rows], return_tensors="pt")["pixel_values"]
        return unit(network.get_image_features(pixel_values=pixels.to(device)).pooler_output)

    @torch.inference_mode()
    def captions(rows):
        ids, _ = filled(model.tokeniser.ids_of([row.text for row in rows]), context)
        return unit(network.get_text_features(input_ids=ids.to(device)).pooler_output)

    return images, captions


def device_of(network) -> Any:
    return next(network.parameters()).device


def unit(features) -> np.ndarray:
    import torch

    return torch.nn.functional.normalize(features, dim=1).cpu().numpy()


def filled(rows: Sequence[Sequence[int]], context: int):
    """Return ids and mask, padded to the context."""
    import torch

    ids, mask = torch.zeros(len(rows), context, dtype=torch.long), torch.zeros(len(rows), context, dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row)], mask[place, : len(row)] = torch.tensor(row), 1
    return ids, mask


def paired(n_images: int, n_captions: int) -> list[tuple[int, np.ndarray]]:
    """Return pairs of every fourth image with the first captions."""
    some = np.arange(min(PAIRED, n_captions))
    return [(image, some) for image in range(0, n_images, 4)]


def our_pairs(scores, pairs) -> np.ndarray:
    return np.concatenate([scores.pairs(np.full(len(captions), image), captions) for image, captions in pairs])


def plain_pairs(scores, images, captions, pairs) -> Encode:
    import torch
    from transformers.models.vilt.image_processing_pil_vilt import ViltImageProcessorPil

    model = scores._model
    network = model.network.eval()
    device = device_of(network)
    shorter = model.network.config.image_size
    prepare = ViltImageProcessorPil(size={"shortest_edge": shorter}, size_divisor=model.network.config.patch_size)
    context = network.config.max_position_embeddings

    @torch.inference_mode()
    def score(image: int, chosen: np.ndarray) -> np.ndarray:
        pixels = prepare([images[image].open()] * len(chosen), return_tensors="pt")
        ids, mask = filled(model.tokeniser.ids_of([captions[place].text for place in chosen]), context)
        inputs = {"input_ids": ids, "attention_mask": mask, **pixels}
        logits = network(**{name: tensor.to(device) for name, tensor in inputs.items()}).logits
        return logits[:, 0].cpu().numpy()

    return lambda: np.concatenate([score(*pair) for pair in pairs])


def measure_in_turn(ours: Encode, plain: Encode, repeats: int, tolerance: float) -> list[tuple[float, float]]:
    """Return the seconds of both, in turn, ``repeats`` times, after a first run that warms up and compares results."""
    np.testing.assert_allclose(ours(), plain(), atol=tolerance)
    return [(timed(ours), timed(plain)) for _ in range(repeats)]


def timed(encode: Encode) -> float:
    begun = perf_counter()
    encode()
    return perf_counter() - begun


def report(name: str, what: str, number: int, seconds: list[tuple[float, float]]) -> None:
    ratios = [plain / ours for ours, plain in seconds]
    ours, plain = (median(side) for side in zip(*seconds, strict=True))
    span = f"{min(ratios):.2f}-{max(ratios):.2f}"
    print(f"{name:>8}  {what:>8}  {number:6}  {ours:7.2f}  {plain:7.2f}  {median(ratios):12.2f}  {span}", flush=True)


if __name__ == "__main__":
    main()
