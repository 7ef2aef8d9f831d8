"""ECCV Caption's appendix on a drawn round: tables A.1, B.2 and B.3, figures A.1, B.1, D.2, E.1 and E.2."""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from benchmarks.papers.appendix_round import MACHINES, drawn_round
from benchmarks.papers.book import Made, markdown, numbers

PEOPLE = 8  # of a preference
BIASES = {"bias": "bias", "self_bias": "self", "non_self_bias": "others"}
RANKS = ("1", "2", "3", "4", "5", "all")


def table_a1(data: Path) -> Made:
    found = drawn_round()["diversity"]
    side = found["t2i"]
    place = {name: found["annotators"].index(name) for name in MACHINES}
    rows = []
    for row in MACHINES:
        own = {name: [side[name][place[row]][place[column]] for column in MACHINES] for name in ("tau", "rank")}
        cells = [*(f"{one:.3f}" for one in own["tau"]), *(f"{one:.2f}" for one in own["rank"])]
        rows.append([row, *("–" if column == row else cell for column, cell in zip(MACHINES * 2, cells, strict=True))])
    taus = {(a, b): side["tau"][place[a]][place[b]] for a, b in combinations(sorted(MACHINES), 2)}
    most, least = max(taus, key=taus.__getitem__), min(taus, key=taus.__getitem__)
    return Made(
        f"tau {taus[least]:.3f} ({' and '.join(least)}) to {taus[most]:.3f} ({' and '.join(most)})",
        markdown(["tau, then rank", *MACHINES, *MACHINES], rows),
    )


def figure_a1(data: Path) -> Made:
    ranks = drawn_round()["top 5"]
    words = ", ".join(f"{name} {ranks[name] or 'none'}" for name in MACHINES)
    return Made(f"rank of the original picture: {words}")


def figure_b1(data: Path) -> Made:
    asks = drawn_round()["question"]
    return Made(
        f"{asks['questions']} questions; {asks['levels']} levels, {asks['shortcomings']} shortcomings, "
        f"{asks['ways']} ways"
    )


def table_b2(data: Path) -> Made:
    rows = [row for row in drawn_round()["annotators"]["by_rank"] if row["direction"] == "all"]
    yes = {(row["name"], str(row["rank"])): 100 * row["matches"] for row in rows}
    first, last = ([yes[name, rank] for name in MACHINES] for rank in ("1", "5"))
    return Made(
        f"rank 1 {min(first):.1f} to {max(first):.1f}%, rank 5 {min(last):.1f} to {max(last):.1f}%: falls for "
        f"{sum(a > b for a, b in zip(first, last, strict=True))} of 5",
        "Yes or weak yes, percent.\n\n"
        + markdown(["rank", *RANKS], ([name, *(yes[name, rank] for rank in RANKS)] for name in MACHINES)),
    )


def table_b3(data: Path) -> Made:
    rows = drawn_round()["reasons"]["reasons"]
    tables = {}
    for kind in ("shortcoming", "wrong_way"):
        reasons = [row["reason"] for row in rows if row["by"] == "" and row["kind"] == kind]
        shares = {name: [100 * _share(rows, name, reason) for reason in reasons] for name in (*MACHINES, "all")}
        tables[kind] = ["machine", *(reason.replace("_", " ") for reason in reasons)], shares
    shares = tables["shortcoming"][1]
    spread = max(abs(a - b) for name in MACHINES for a, b in zip(shares[name], shares["all"], strict=True))
    return Made(
        f"{numbers(shares['all'])}%; machines alike within {spread:.1f} points",
        "\n\n".join(
            markdown(heads, ([name, *(f"{one:.1f}" for one in of)] for name, of in found.items()))
            for heads, found in tables.values()
        ),
    )


def _share(rows: Sequence[Mapping[str, Any]], group: str, reason: str) -> float:
    return next(float(row["share"]) for row in rows if row["group"] == group and row["reason"] == reason)


def figure_d2(data: Path) -> Made:
    asks = drawn_round()["question"]
    return Made(
        f"{asks['captions']} captions × {asks['pairs']} pairs × {PEOPLE} = "
        f"{asks['captions'] * asks['pairs'] * PEOPLE:,}"
    )


def figure_e1(data: Path) -> Made:
    pairs = drawn_round()["pairs"]
    return Made(f"{pairs['all']:,} judged pairs of all five, {pairs['two']:,} of PCME and VSRN")


def figure_e2(data: Path) -> Made:
    found = [one for one in drawn_round()["bias"]["bias"] if one["direction"] == "t2i"]
    rows = [
        [one["metric"], size["size"], size["subsets"], *(f"{100 * size[name]:.1f}" for name in BIASES)]
        for one in found
        for size in one["sizes"][:-1]
    ]
    falls = all(size["bias"] >= after["bias"] for one in found for size, after in pairwise(one["sizes"]))
    return Made(
        f"{'falls with every machine' if falls else 'does not always fall'}; R@1 "
        f"{numbers(100 * size['bias'] for size in found[0]['sizes'][:-1])} points with 1 to 4",
        markdown(["metric", "machines", "subsets", *BIASES.values()], rows),
    )
