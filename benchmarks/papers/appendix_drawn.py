"""ECCV Caption's appendix on a drawn round: tables A.1, B.2 and B.3, figures A.1, B.1, D.2, E.1 and E.2."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.papers.appendix_round import MACHINES, drawn_round
from benchmarks.papers.book import Item, Status

SMALL = "small annotators on drawn pictures, a simulated crowd"
DRAWN = "drawn collection"
PARTS = ("all", "t2i", "i2t")


def table_a1(data: Path) -> Item:
    found = drawn_round()["diversity"]
    side = found["t2i"]
    places = [found["annotators"].index(name) for name in MACHINES]
    lines = [
        "|"
        + "|".join(
            [name, *("–" if row == column else f"{side['tau'][row][column]:.3f}" for column in places)]
            + ["–" if row == column else f"{side['rank'][row][column]:.2f}" for column in places]
        )
        + "|"
        for name, row in zip(MACHINES, places, strict=True)
    ]
    taus = {(a, b): side["tau"][i][j] for a, i in _named(places) for b, j in _named(places) if a < b}
    most, least = max(taus, key=taus.__getitem__), min(taus, key=taus.__getitem__)
    return Item(
        "table A.1",
        "how alike five machines rank (a: tau, b: rank of the top item)",
        "tau −0.013 (ViLT, CLIP) to 0.430 (PVSE, PCME); ranks 3.87 to 6.24",
        f"tau {taus[least]:.3f} ({' and '.join(least)}) to {taus[most]:.3f} ({' and '.join(most)})",
        DRAWN,
        "`analyse diversity COLLECTION`",
        Status.DRAWN,
        SMALL,
        "\n".join([_heads("tau, then rank", [*MACHINES, *MACHINES]), *lines]),
    )


def _named(places: Sequence[int]) -> list[tuple[str, int]]:
    return list(zip(MACHINES, places, strict=True))


def _heads(first: str, names: Sequence[str]) -> str:
    return f"|{first}|{'|'.join(names)}|\n{'|---' * (len(names) + 1)}|"


def figure_a1(data: Path) -> Item:
    ranks = drawn_round()["top 5"]
    words = ", ".join(f"{name} {ranks[name] or 'none'}" for name in MACHINES)
    return Item(
        "figure A.1",
        "top 5 of five machines for one caption",
        "the original picture is in some of the lists",
        f"rank of the original picture: {words}",
        DRAWN,
        "pages *side by side* and *query*",
        Status.DRAWN,
        "no model's rankings are published",
    )


def figure_b1(data: Path) -> Item:
    asks = drawn_round()["question"]
    return Item(
        "figure B.1",
        "a question of a HIT",
        "20 questions; 4 levels, 4 shortcomings, 10 ways to be wrong (table B.3)",
        f"{asks['questions']} questions; {asks['levels']} levels, {asks['shortcomings']} shortcomings, "
        f"{asks['ways']} ways",
        "the judging page",
        "`pack --design eccv-20 --reasons`",
        Status.EQUAL,
    )


def table_b2(data: Path) -> Item:
    rows = [row for row in drawn_round()["annotators"]["by_rank"] if row["direction"] == "all"]
    yes = {(row["name"], str(row["rank"])): 100 * row["matches"] for row in rows}
    lines = [
        f"|{row['name']}|{row['rank']}|" + "|".join(f"{100 * row[f'share_{level}']:.1f}" for level in range(1, 5)) + "|"
        for row in rows
    ]
    first, last = ([yes[name, rank] for name in MACHINES] for rank in ("1", "5"))
    return Item(
        "table B.2",
        "levels by machine and rank",
        "yes or weak yes at rank 1 81.3 to 86.0%, at rank 5 61.4 to 69.0%: falls with the rank",
        f"rank 1 {min(first):.1f} to {max(first):.1f}%, rank 5 {min(last):.1f} to {max(last):.1f}%: falls for "
        f"{sum(a > b for a, b in zip(first, last, strict=True))} of 5",
        DRAWN,
        "`analyse annotators ROUND`",
        Status.DRAWN,
        SMALL,
        "\n".join([_heads("machine", ["rank", "yes", "weak yes", "weak no", "no"]), *lines]),
    )


def table_b3(data: Path) -> Item:
    rows = drawn_round()["reasons"]["reasons"]
    groups = (*MACHINES, "all")
    lines = [_reasons(rows, name, "shortcoming") for name in groups]
    ways = [_reasons(rows, name, "wrong_way") for name in groups]
    spread = max(
        abs(row["share"] - _share(rows, "all", row["reason"]))
        for row in rows
        if row["by"] == "annotator" and row["kind"] == "shortcoming"
    )
    return Item(
        "table B.3",
        "reasons by machine (a: shortcomings, b: what is wrong)",
        "not in image 30.4, not in caption 18.2, wrong way 46.7, grammar 4.7%; machines alike within 1.6 points",
        f"{lines[-1].removeprefix('|all|').rstrip('|').replace('|', ', ')}%; machines alike within "
        f"{100 * spread:.1f} points",
        DRAWN,
        "`pack --reasons`, `analyse reasons ROUND`",
        Status.DRAWN,
        "the simulated crowd draws its reasons; it does not see the pictures",
        "\n".join(
            [_heads("machine", _names(rows, "shortcoming")), *lines, "", _heads("", _names(rows, "wrong_way")), *ways]
        ),
    )


def _names(rows: Sequence[dict[str, Any]], kind: str) -> list[str]:
    return [row["reason"].replace("_", " ") for row in rows if row["by"] == "" and row["kind"] == kind]


def _share(rows: Sequence[dict[str, Any]], group: str, reason: str) -> float:
    return next(float(row["share"]) for row in rows if row["group"] == group and row["reason"] == reason)


def _reasons(rows: Sequence[dict[str, Any]], group: str, kind: str) -> str:
    shares = [row["share"] for row in rows if row["group"] == group and row["kind"] == kind]
    return "|".join([f"|{group}", *(f"{100 * share:.1f}" for share in shares), ""])


def figure_d2(data: Path) -> Item:
    asks = drawn_round()["question"]
    people = 8
    preferences = asks["captions"] * asks["pairs"] * people
    return Item(
        "figure D.2",
        "a question of the study",
        "40 captions × 10 pairs × 8 people = 3,200",
        f"{asks['captions']} captions × {asks['pairs']} pairs × {people} = {preferences:,}",
        "the task *preference*",
        "`pack --task preference --positives VERSION`",
        Status.EQUAL,
    )


def figure_e1(data: Path) -> Item:
    pairs = drawn_round()["pairs"]
    return Item(
        "figure E.1",
        "judged pairs of all machines, and of some",
        "a diagram",
        f"{pairs['all']:,} judged pairs of all five, {pairs['two']:,} of PCME and VSRN",
        DRAWN,
        "`analyse bias VERSION` takes every subset",
        Status.DRAWN,
        SMALL,
    )


def figure_e2(data: Path) -> Item:
    found = [one for one in drawn_round()["bias"]["bias"] if one["direction"] == "t2i"]
    lines = [
        f"|{one['metric']}|{size['size']}|{size['subsets']}|"
        + "|".join(f"{100 * size[name]:.1f}" for name in ("bias", "self_bias", "non_self_bias"))
        + "|"
        for one in found
        for size in one["sizes"][:-1]
    ]
    falls = all(size["bias"] >= after["bias"] for one in found for size, after in pairwise(one["sizes"]))
    return Item(
        "figure E.2",
        "bias by the number of machines",
        "falls with every machine; one machine: table E.1",
        f"{'falls with every machine' if falls else 'does not always fall'}; R@1 "
        + ", ".join(f"{100 * size['bias']:.1f}" for size in found[0]["sizes"][:-1])
        + " points with 1 to 4",
        DRAWN,
        "`analyse bias VERSION --plot FILE`",
        Status.DRAWN,
        SMALL,
        "\n".join([_heads("metric", ["machines", "subsets", "bias", "self", "others"]), *lines]),
    )
