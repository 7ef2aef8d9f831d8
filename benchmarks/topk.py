"""Top-25 in both directions: ours, FAISS, torch, NumKong, USearch and the bare product: python -m benchmarks.topk PART

small: 5,000 x 25,000; large: 40,000 x 200,000; both with 512 and 1,024 dimensions. hard: ties, ascending scores,
duplicates, tight cones and small sizes. Everything runs with the same threads in the same process, ours and the others
in turn; figures are medians and ratios to FAISS's two searches. The random embeddings resemble CLIP's: a cone per
modality, 200 topics, five captions per image, 1% duplicates.

NumKong and USearch are no packages of the product, and are left out where they are missing; a line says how to install
them. USearch needs hours for large: choose with --peers. With --write the table of small goes into the docs.
"""

import argparse
import os
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before any library starts its threads
if "amx_tile" in Path("/proc/cpuinfo").read_text():
    # The OpenBLAS of FAISS has products for Sapphire Rapids that take five times as long as those for Skylake.
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")

import faiss
import numpy as np
import torch

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import measured
from counterpart_topk import bidirectional_topk

K, TILE = 25, 4_096
Arrays = tuple[np.ndarray, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="small", choices=PARTS)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each search (default 5)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="number of threads of every library")
    parser.add_argument(
        "--peers",
        nargs="+",
        default=["FAISS", "torch", "product", "NumKong", "USearch"],
        help="searches to compare with (not hard)",
    )
    parser.add_argument("--dimensions", type=int, nargs="+", default=[512, 1_024], help="sizes of small and large")
    parser.add_argument("--write", action="store_true", help="small: write the table of docs/benchmarks.md")
    options = parser.parse_args()
    use_threads(options.threads)
    bidirectional_topk(*like_clip(600, 900, 64), K)  # compiled before anything is timed
    PARTS[options.part](options)


def use_threads(n: int) -> None:
    import numba

    torch.set_num_threads(n)
    faiss.omp_set_num_threads(n)
    numba.set_num_threads(n)


def like_clip(n: int, m: int, dimensions: int, seed: int = 0) -> Arrays:
    """Return unit vectors of n images and m captions."""
    rng = np.random.default_rng(seed)
    topics, cones = (rng.standard_normal((n, dimensions), np.float32) for n in (200, 2))
    images = topics[rng.integers(200, size=n)] + 0.9 * rng.standard_normal((n, dimensions), np.float32)
    captions = images[np.arange(m) % n] + 0.9 * rng.standard_normal((m, dimensions), np.float32)
    captions += 1.5 * cones[1]
    images += 1.5 * cones[0]
    captions[rng.integers(m, size=m // 100)] = captions[rng.integers(m, size=m // 100)]
    for side in (images, captions):
        side /= np.linalg.norm(side, axis=1, keepdims=True)
    return images, captions


def ours(images: np.ndarray, captions: np.ndarray, k: int = K):
    return bidirectional_topk(images, captions, k)


def by_faiss(images: np.ndarray, captions: np.ndarray, k: int = K):
    """Search two flat indexes."""
    return _faiss_search(images, captions, k), _faiss_search(captions, images, k)


def _faiss_search(queries: np.ndarray, items: np.ndarray, k: int):
    index = faiss.IndexFlatIP(items.shape[1])
    index.add(items)
    return index.search(queries, k)


def by_torch(images: np.ndarray, captions: np.ndarray, k: int = K):
    """Compute a product and a topk per strip, in each direction."""
    for queries, items in ((images, captions), (captions, images)):
        every = torch.from_numpy(items).T
        for start in range(0, len(queries), 1_024):
            torch.topk(torch.from_numpy(queries[start : start + 1_024]) @ every, k)


def bare_product(images: np.ndarray, captions: np.ndarray, k: int = K):
    """Compute the float32 product and discard it: the lower bound of every search in float32."""
    out = np.empty((1_024, TILE), np.float32)
    for i in range(0, len(images), 1_024):
        for j in range(0, len(captions), TILE):
            rows = images[i : i + 1_024]
            columns = captions[j : j + TILE]
            np.matmul(rows, columns.T, out=out[: len(rows), : len(columns)])


def by_numkong(images: np.ndarray, captions: np.ndarray, k: int = K):
    """As ``by_torch``, with NumKong's products in bfloat16: the scores are rounded, so the lists are not exact."""
    import numkong

    threads = torch.get_num_threads()
    for queries, items in ((images, captions), (captions, images)):
        packed = numkong.dots_pack(numkong.astype(items, "bfloat16"), dtype="bfloat16")
        for start in range(0, len(queries), 1_024):
            strip = numkong.astype(queries[start : start + 1_024], "bfloat16")
            scores = numkong.dots_packed(strip, packed, threads=threads)
            torch.topk(torch.from_numpy(np.asarray(scores)), k)


def by_usearch(images: np.ndarray, captions: np.ndarray, k: int = K):
    """Search each side without an index, in bfloat16, which is its fastest precision of floating point here."""
    from usearch.index import MetricKind, ScalarKind, search

    halves = [torch.from_numpy(side).bfloat16().view(torch.uint16).numpy() for side in (images, captions)]
    exactly = {"exact": True, "threads": torch.get_num_threads(), "dtype": ScalarKind.BF16}
    for queries, items in (halves, halves[::-1]):
        search(items, queries, k, MetricKind.IP, **exactly)


CONTENDERS = {
    "ours": ours,
    "FAISS": by_faiss,
    "torch": by_torch,
    "product": bare_product,
    "NumKong": by_numkong,
    "USearch": by_usearch,
}
PACKAGES = {"NumKong": "numkong==7.8.6", "USearch": "usearch==2.26.6"}


def chosen(peers: Iterable[str]) -> dict[str, Callable]:
    """Return our search and those of the peers. Where a package is missing, a line says how to install it."""
    missing = [peer for peer in peers if peer in PACKAGES and find_spec(peer.lower()) is None]
    if missing:
        print(
            f"{' and '.join(missing)} left out. To compare: python -m pip install --no-deps --target .venv-peers "
            f"{' '.join(PACKAGES.values())}, and set PYTHONPATH=.venv-peers.",
            flush=True,
        )
    return {name: CONTENDERS[name] for name in ("ours", *peers) if name not in missing}


def compare(
    title: str, sides: Arrays, repeats: int, contenders: dict[str, Callable] = CONTENDERS, k: int = K
) -> dict[str, list[float]]:
    """Run all searches in turn, ``repeats`` times, print a line of medians and ratios, and return the seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, search in contenders.items():
            begun = perf_counter()
            search(*sides, k)
            seconds[name].append(perf_counter() - begun)
    times = "  ".join(f"{name} {median(taken):8.3f} s" for name, taken in seconds.items())
    ratios = [faiss_s / ours_s for faiss_s, ours_s in zip(seconds["FAISS"], seconds["ours"], strict=True)]
    print(f"{title:32} {times}  FAISS / ours {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
    return seconds


def sizes(options: argparse.Namespace) -> None:
    n, m = {"small": (5_000, 25_000), "large": (40_000, 200_000)}[options.part]
    contenders = chosen(options.peers)
    lines = [f"| images × captions, D | {' | '.join(contenders)} |", f"|---|{'---|' * len(contenders)}"]
    for dimensions in options.dimensions:
        sides = like_clip(n, m, dimensions)
        found, _, megabytes = measured(partial(ours, *sides))
        title = f"{n:,} x {m:,}, D = {dimensions:,}"
        print(f"{title}: {found.precision} first pass, {megabytes:.0f} MB beyond the inputs", flush=True)
        seconds = compare(title, sides, options.repeats, contenders)
        cells = [_cell(taken, seconds["ours"]) for taken in seconds.values()]
        lines.append(f"| {title.replace('x', '×').replace('D = ', '')} | {' | '.join(cells)} |")
    lines.append(f"\nMedians of {options.repeats}; load at the end {os.getloadavg()[0]:.1f}.")
    if options.write and options.part == "small":
        write_tables("topk", "\n".join(lines))


def _cell(seconds: list[float], ours_s: list[float]) -> str:
    """Return the median of the seconds, and in brackets that of the ratios to ours."""
    if seconds is ours_s:
        return f"{median(seconds):.2f}"
    ratio = median(theirs / mine for theirs, mine in zip(seconds, ours_s, strict=True))
    return f"{median(seconds):.2f} ({ratio:.2g})"


def hard(options: argparse.Namespace) -> None:
    """Measure inputs for which thresholds or first passes fail, and small sizes."""
    rng = np.random.default_rng(1)
    n = 5_000
    m = 25_000
    d = 512
    images, captions = like_clip(n, m, d)
    cone = rng.standard_normal(d, np.float32)
    contenders = {"ours": ours, "FAISS": by_faiss}
    for title, sides in {
        "ascending scores": (images, captions[np.argsort(captions @ images.mean(0))]),
        "ascending for one query and all": (
            np.repeat(images[:1], n, 0) + 1e-3 * images,
            captions[np.argsort(captions @ images[0])],
        ),
        "each vector a hundred times": (np.repeat(images[::100], 100, 0), np.repeat(captions[::100], 100, 0)),
        "all vectors the same": (np.repeat(images[:1], n, 0), np.repeat(images[:1], m, 0)),
        "zeros and ones (scores tie)": tuple((rng.random((size, d)) < 0.1).astype(np.float32) for size in (n, m)),
        "tight cone (1e-2)": (cone + 1e-2 * images, cone + 1e-2 * captions),
        "tighter cone (1e-4)": (cone + 1e-4 * images, cone + 1e-4 * captions),
        "half the captions in one spot": (
            images,
            np.concatenate([captions[: m // 2], captions[:1] + 1e-4 * captions[m // 2 :]]),
        ),
    }.items():
        compare(title, sides, options.repeats, contenders)
    with_packages = contenders | chosen(PACKAGES)
    for small in ((100, 500), (1_000, 1_000), (1_000, 3_000), (3_000, 3_000), (1_261, 25_000)):
        compare(f"{small[0]:,} x {small[1]:,}", like_clip(*small, d), 3 * options.repeats, with_packages)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "small": sizes,
    "large": sizes,
    "hard": hard,
}

if __name__ == "__main__":
    main()
