"""A billion items a side, by what a strip of them costs: python -m benchmarks.billion [--price USD] [--write]

Measures, each in a process of its own with one thread: the scan of a part (1,297 queries, 262,144 items, D = 512);
parts that are stored in float16 or bfloat16; the memory of scanning 10 million items of 128 dimensions, for 1,297
queries and for a block of 65,536. From these figures a pure function works out hours and money for 10⁷, 10⁸ and 10⁹
items a side on 1, 4 and 16 hosts. Needs 7 GB on the disk of --folder; --write writes it all into docs/benchmarks.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.beyond_rows import unit_vectors
from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import peak_mb
from core.files.parts import Part
from counterpart_topk.products import choose_products
from counterpart_topk.ranking import empty_ranking
from counterpart_topk.sides import open_side, slices
from counterpart_topk.tiles import IN_CACHE
from mitl.search.scan import merge, scan

QUERIES, ITEMS, DIMENSIONS, K, REPEATS = 1_297, 262_144, 512, 25, 5
ROWS = 65_536  # of a part, as mitl.search.by_parts cuts them
GALLERY, NARROW = 10_000_000, 128  # items and dimensions
PARTS = -(-GALLERY // ROWS)
# Of a search by parts: which embeddings, how many queries, and how many parts they meet; of the longest, a few.
UNITS_OF_WORK = {"sample": ("narrow", QUERIES, PARTS), "block": ("narrow", ROWS, 4), "wide block": ("wide", ROWS, 4)}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
CORES, NVME, S3 = 16, 2e9, 1e9  # of a host: cores; bytes read a second from a disk and from a store of objects
HOSTS, SIZES = (1, 4, 16), (10**7, 10**8, 10**9)
HOUR = 3600
DURATIONS = (("years", 8766 * HOUR), ("days", 24 * HOUR), ("h", HOUR), ("min", 60), ("s", 1))
Figures = dict[str, float]


class Plan(NamedTuple):
    """Seconds of scanning, of reading, and of both at the same time after encoding; and what the hosts are paid."""

    scanning: float
    reading: float
    seconds: float
    money: float


def plan(
    units: int, scan_s: float, read_bytes: float, hosts: int, *, read_rate: float, price: float, encode_s: float = 0
) -> Plan:
    """Deal units out to the cores of hosts; the last of them leave cores without work.

    Args:
        scan_s: seconds of a core for one unit.
        read_bytes: what one unit reads.
        read_rate: bytes that a host reads a second.
        price: of a host-hour.
        encode_s: seconds in which one host encodes everything.
    """
    scanning = -(-units // (hosts * CORES)) * scan_s
    reading = -(-units // hosts) * read_bytes / read_rate
    seconds = encode_s / hosts + max(scanning, reading)
    return Plan(scanning, reading, seconds, seconds / HOUR * hosts * price)


def as_bfloat16(vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round to the nearest bfloat16, ties to even: the upper halves of float32."""
    bits = vectors.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(out: NDArray[np.float32], halves: NDArray[np.uint16]) -> None:
    np.left_shift(halves, 16, out=out.view(np.uint32), dtype=np.uint32)


STORED: dict[str, tuple[Callable, Callable]] = {  # how a part is written, and read as float32
    "float32": (np.asarray, np.copyto),
    "float16": (np.float16, np.copyto),
    "bfloat16": (as_bfloat16, from_bfloat16),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--price", type=float, default=1.0, help="USD of a host-hour (default 1: a guess)")
    parser.add_argument("--encode-rate", type=float, help="items a second of a host (default: encoded before)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    parser.add_argument("--one", choices=MEASURES, help="measure one thing in the folder, in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(MEASURES[options.one](options.folder)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measured = {name: measured_alone(name, folder) for name in MEASURES}
    lines = [*strip_lines(measured["strip"]), *storage_lines(measured), *memory_lines(measured)]
    text = "\n".join([*lines, *plan_lines(measured, options.price, options.encode_rate)])
    print(text)
    if options.write:
        write_tables("billion", text)


def measured_alone(name: str, folder: str) -> Any:
    command = [sys.executable, "-m", "benchmarks.billion", "--one", name, "--folder", folder]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | ONE_THREAD)  # noqa: S603  this module
    figures = json.loads(said.stdout)
    print(f"{name}: {figures}", flush=True)
    return figures


def draw(folder: Path) -> Figures:
    """Write images as queries and captions as items, in all kinds of storage, and the parts of a gallery."""
    from benchmarks.topk import like_clip

    images, captions = like_clip(ROWS, ITEMS, DIMENSIONS)
    np.save(folder / "wide-queries.npy", images)
    for kind, (write, _) in STORED.items():
        np.save(folder / f"{kind}.npy", write(captions))
    for number, part in enumerate(slices(ITEMS, ROWS)):
        np.save(folder / f"wide-{number}.npy", captions[part])
    rng = np.random.default_rng(1)
    np.save(folder / "narrow-queries.npy", unit_vectors(rng, ROWS, NARROW))
    for number, part in enumerate(slices(GALLERY, ROWS)):
        np.save(folder / f"narrow-{number}.npy", unit_vectors(rng, part.stop - part.start, NARROW))
    os.sync()  # else the writing of 6 GB slows what is measured next
    return {}


def read(part: Part) -> NDArray:
    return np.load(part.path, mmap_mode="r")


def measure_strip(folder: Path) -> Figures:
    """Return the seconds of processor of a scan, and of two of its parts alone: products, and ``open_side``."""
    queries = np.load(folder / "wide-queries.npy", mmap_mode="r")[:QUERIES]
    part = Part(str(folder / "float32.npy"), "", 0, ITEMS)
    items = read(part)
    products = choose_products()
    rows = products.operand(queries)
    panels = [products.operand(items[columns]) for columns in slices(ITEMS, IN_CACHE[1])]

    def multiply() -> None:
        for strip in slices(QUERIES, IN_CACHE[0]):
            for panel in panels:
                products.tile(rows[strip], panel)

    return {
        "scan": processor_s(lambda: scan(part, queries, K, read)),
        "product": processor_s(multiply),
        "open_side": processor_s(lambda: open_side(items, "items")),
    }


def processor_s(act: Callable[[], object]) -> float:
    """Return the median of the seconds of processor, after one run that compiles and reads."""
    act()
    taken = []
    for _ in range(REPEATS):
        begun = process_time()
        act()
        taken.append(process_time() - begun)
    return median(taken)


def measure_storage(folder: Path) -> dict[str, Figures]:
    """Return by kind of storage what reading and scanning a part takes, and how its lists differ from float32's.

    All kinds in turn, since other work on the machine slows whichever runs beside it.
    """
    queries = np.load(folder / "wide-queries.npy", mmap_mode="r")[:QUERIES]
    runs: dict[str, list[Figures]] = {kind: [] for kind in STORED}
    lists = {}
    items = np.ones((ITEMS, DIMENSIONS), np.float32)  # the first touch of memory would take longer than widening
    for _ in range(REPEATS):
        for kind, (_, widen) in STORED.items():
            path = folder / f"{kind}.npy"
            with path.open("rb") as file:  # the next read comes from the disk
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            clock, begun = perf_counter(), process_time()
            widen(items, np.load(path, mmap_mode="r"))
            clock, have_read = perf_counter() - clock, process_time()
            lists[kind] = scan(Part("", "", 0, ITEMS), queries, K, lambda _: items).places  # noqa: B023  called here
            runs[kind].append({"clock": clock, "reading": have_read - begun, "scan": process_time() - have_read})
    figures = {}
    for kind, places in lists.items():
        figures[kind] = {name: median(run[name] for run in runs[kind]) for name in ("clock", "reading", "scan")}
        kept = (places[:, :, None] == lists["float32"][:, None, :]).any(2)
        moved = (places != lists["float32"]).mean()
        size = (folder / f"{kind}.npy").stat().st_size
        figures[kind] |= {"moved": float(moved), "left": float((~kept).mean()), "bytes": size}
    return figures


def measure_unit(kind: str, rows: int, parts: int, folder: Path) -> Figures:
    """Scan the first parts for some queries, as a unit of a search by parts does."""
    queries = np.load(folder / f"{kind}-queries.npy", mmap_mode="r")[:rows]
    begun = process_time()
    found = empty_ranking(rows, K)
    for number in range(parts):
        first = number * ROWS
        part = Part(str(folder / f"{kind}-{number}.npy"), "", first, min(ROWS, GALLERY - first))
        found = merge(found, scan(part, queries, K, read))
    return {"processor": process_time() - begun, "peak": peak_mb()}


def strip_lines(strip: Figures) -> list[str]:
    rest = strip["scan"] - strip["product"] - strip["open_side"]
    rows = [
        ("product", strip["product"]),
        ("`open_side`: checks, lengths, hashes", strip["open_side"]),
        ("rest: rounding, candidates, their float64 scores", rest),
        ("**the whole scan**", strip["scan"]),
    ]
    return [
        f"{QUERIES:,} queries, a part of {ITEMS:,} items, D = {DIMENSIONS}, one thread:\n",
        "| | processor, s | µs an item |\n|---|---|---|",
        *(f"| {name} | {seconds:.2f} | {seconds / ITEMS * 1e6:.1f} |" for name, seconds in rows),
    ]


def storage_lines(measured: dict[str, Any]) -> list[str]:
    lines = [
        "\n| the part stored as | MB | from disk to float32, s | of it processor, s | scan, processor s |"
        " places with another item | items that leave the 25 |\n|---|---|---|---|---|---|---|"
    ]
    for kind in STORED:
        one = measured["storage"][kind]
        seconds = f"{one['clock']:.2f} | {one['reading']:.2f} | {one['scan']:.2f}"
        lines.append(f"| {kind} | {one['bytes'] / 1e6:,.0f} | {seconds} | {one['moved']:.2%} | {one['left']:.2%} |")
    return lines


def memory_lines(measured: dict[str, Any]) -> list[str]:
    lines = [
        f"\nParts of {ROWS:,} items in float32; {GALLERY:,} items are {PARTS} parts, extrapolated from fewer:\n",
        "| queries | D | parts scanned | processor, s | for all parts | peak, MB |\n|---|---|---|---|---|---|",
    ]
    for name, (kind, queries, parts) in UNITS_OF_WORK.items():
        one, dimensions = measured[name], NARROW if kind == "narrow" else DIMENSIONS
        whole = duration(one["processor"] / parts * PARTS)
        lines.append(
            f"| {queries:,} | {dimensions} | {parts} | {one['processor']:,.1f} | {whole} | {one['peak']:,.0f} |"
        )
    return lines


def plan_lines(measured: dict[str, Any], price: float, encode_rate: float | None) -> list[str]:
    """Plan both directions, D = 512, from parts in bfloat16: for a sample of queries, and for all items as queries."""
    stored = measured["storage"]["bfloat16"]
    widening = stored["reading"] / ITEMS * ROWS
    part_s = stored["scan"] / ITEMS * ROWS + widening
    block_s = measured["wide block"]["processor"] / UNITS_OF_WORK["wide block"][2] + widening
    encoding = "encoding is left out" if encode_rate is None else f"a host encodes {encode_rate:,.0f} items a second"
    lines = [
        f"\nHosts of {CORES} cores at {price:.2f} USD an hour (`--price`); {encoding}:\n",
        "| items a side | queries | hosts | scanning | reading, 2 GB/s | in all | USD | 1 GB/s | in all | USD |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (queries, part_seconds), items, hosts in product(((QUERIES, part_s), (None, block_s)), SIZES, HOSTS):
        parts = -(-items // ROWS)
        met = 1 if queries else parts  # by a unit: as a search by parts deals them out
        unit = met * part_seconds, met * ROWS * DIMENSIONS * 2
        cells = [f"{items:,}", f"{queries:,}" if queries else "all", f"{hosts}"]
        for rate in (NVME, S3):
            encode_s = 2 * items / encode_rate if encode_rate else 0.0
            made = plan(2 * parts, *unit, hosts, read_rate=rate, price=price, encode_s=encode_s)
            cells += [duration(made.scanning)] * (rate == NVME)
            cells += [duration(made.reading), duration(made.seconds), f"{max(made.money, 0.01):,.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def duration(seconds: float) -> str:
    """Return a duration in the largest unit that gives a number of at least two."""
    unit, length = next((unit for unit in DURATIONS if seconds >= 2 * unit[1]), DURATIONS[-1])
    return f"{seconds / length:,.{0 if seconds >= 10 * length else 1}f} {unit}"


MEASURES: dict[str, Callable[[Path], Any]] = {
    "draw": draw,
    "strip": measure_strip,
    "storage": measure_storage,
    **{name: partial(measure_unit, *unit) for name, unit in UNITS_OF_WORK.items()},
}

if __name__ == "__main__":
    main()
