"""Top-25 in both directions on a GPU: ours, torch, the bare product, and cuVS and FAISS where installed for GPUs.

    python -m benchmarks.topk_cuda [--sizes 40000x200000 ...] [--dimensions 512 1024] [--repeats 5]

All get arrays in the computer's memory and give lists there. torch multiplies strips and takes their topk, twice, in
float32 (without TF32) and in bfloat16; the product is one bfloat16 product by strips that is thrown away, of a number
of captions that suits the tensor cores. Ours returns what a float64 product would. Medians, and their ratio to ours;
the rate of ours is that of one product in its time. At the end the lists of some images and captions are compared with
those of a search on the processor, byte by byte.
"""

import argparse
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter

import faiss
import numpy as np
import torch

from benchmarks.topk import like_clip
from counterpart_topk import TopK, bidirectional_topk, topk_of_products

K, STRIP = 25, 8_192
COMPARED = 500  # images, and captions, whose lists the processor searches too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["5000x25000", "40000x200000", "123287x616767"])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[512, 1_024])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {torch.get_num_threads()} threads", flush=True)
    bidirectional_topk(*like_clip(2_000, 3_000, 64), K, device="cuda")  # compiled before anything is timed
    for size in options.sizes:
        for dimensions in options.dimensions:
            n, m = map(int, size.split("x"))
            images, captions = like_clip(n, m, dimensions)
            compare(f"{size}, D = {dimensions:,}", images, captions, options.repeats)


def compare(title: str, images: np.ndarray, captions: np.ndarray, repeats: int) -> None:
    """Print a line: all contenders in turn, after a run of each that is not timed."""
    contenders: dict[str, Callable] = {
        "ours": partial(bidirectional_topk, k=K, device="cuda"),
        "torch float32": partial(by_torch, kind=torch.float32),
        "torch bfloat16": partial(by_torch, kind=torch.bfloat16),
        "product": product,
    }
    if find_spec("cuvs"):
        contenders["cuVS"] = by_cuvs
    if hasattr(faiss, "GpuIndexFlatIP"):
        contenders["FAISS GPU"] = by_faiss
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for run in range(repeats + 1):
        for name, search in contenders.items():
            begun = perf_counter()
            search(images, captions)
            torch.cuda.synchronize()
            if run:
                seconds[name].append(perf_counter() - begun)
    mine = median(seconds["ours"])
    cells = [f"{name} {median(taken):.3f} s ({median(taken) / mine:.2f})" for name, taken in seconds.items()]
    operations = 2 * len(images) * len(captions) * images.shape[1]
    different = count_different(contenders["ours"](images, captions), images, captions)
    print(
        f"{title}: {'; '.join(cells)}; ours {operations / mine / 1e12:.1f} TFLOP/s;"
        f" {different} of {2 * COMPARED} lists differ from the processor's",
        flush=True,
    )


def count_different(found: TopK, images: np.ndarray, captions: np.ndarray) -> int:
    """Search on the processor for COMPARED images and captions, and return how many lists or scores are other bytes."""
    rng = np.random.default_rng(0)
    different = 0
    for queries, items, places, scores in (
        (images, captions, found.i2t_indices, found.i2t_scores),
        (captions, images, found.t2i_indices, found.t2i_scores),
    ):
        drawn = np.sort(rng.choice(len(queries), min(COMPARED, len(queries)), replace=False))
        right_places, right_scores = topk_of_products(queries[drawn], items, K)
        same = (places[drawn] == right_places) & (scores[drawn] == right_scores)
        different += int((~same.all(1)).sum())
    return different


def by_torch(images: np.ndarray, captions: np.ndarray, *, kind: torch.dtype) -> list[tuple]:
    """Multiply strips of one side with all of the other and take the best, in each direction."""
    return [_best(images, captions, kind), _best(captions, images, kind)]


def product(images: np.ndarray, captions: np.ndarray) -> None:
    """Multiply every strip of images with all captions, once."""
    rows, columns = (torch.from_numpy(side).cuda().bfloat16() for side in (images, captions))
    columns = torch.nn.functional.pad(columns, (0, 0, 0, -len(columns) % 64))
    for first in range(0, len(rows), STRIP):
        _ = rows[first : first + STRIP] @ columns.T


def by_cuvs(images: np.ndarray, captions: np.ndarray) -> list[tuple]:
    """Search two brute-force indexes of cuVS."""
    from cuvs.neighbors import brute_force  # type: ignore[import-not-found]

    found = []
    for queries, items in ((images, captions), (captions, images)):
        index = brute_force.build(torch.from_numpy(items).cuda(), metric="inner_product")
        scores, places = brute_force.search(index, torch.from_numpy(queries).cuda(), K)
        found.append((scores.copy_to_host(), places.copy_to_host()))
    return found


def by_faiss(images: np.ndarray, captions: np.ndarray) -> list[tuple]:
    """Search two flat indexes of FAISS."""
    found = []
    for queries, items in ((images, captions), (captions, images)):
        index = faiss.GpuIndexFlatIP(faiss.StandardGpuResources(), items.shape[1])
        index.add(items)
        found.append(index.search(queries, K))
    return found


def _best(queries: np.ndarray, items: np.ndarray, kind: torch.dtype) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = (torch.from_numpy(side).cuda().to(kind) for side in (queries, items))
    found = [torch.topk(rows[first : first + STRIP] @ columns.T, K) for first in range(0, len(rows), STRIP)]
    places, scores = (torch.cat([getattr(one, part) for one in found]) for part in ("indices", "values"))
    return places.cpu().numpy(), scores.float().cpu().numpy()


if __name__ == "__main__":
    main()
