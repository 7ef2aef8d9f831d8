"""Visual semantic hubs (Anonymous, EMNLP-IJCNLP submission): its numbered tables and figures."""

from pathlib import Path

from benchmarks.papers import hub_steps
from benchmarks.papers.book import Made, markdown, numbers
from benchmarks.papers.hub_training import NAMES, Learned, learned

RECALLS = ("i→t R@1", "R@5", "R@10", "t→i R@1", "R@5", "R@10", "rsum")

# Lines 4.8 to 4.14 of the paper, SUM on MS-COCO; the rsum is also in table 3.
TABLE_4 = {
    "NNS": (46.9, 79.7, 89.5, 37.0, 73.1, 85.3, 411.5),
    "GM": (44.4, 81.6, 89.4, 37.2, 73.3, 85.3, 411.2),
    "RGM": (48.0, 81.0, 90.6, 37.2, 73.6, 85.5, 415.9),
    "IS": (53.2, 82.2, 90.9, 38.4, 73.2, 84.2, 422.2),
    "CSLS": (52.3, 82.8, 91.0, 40.4, 75.0, 86.1, 427.6),
    "IS+RGM": (53.2, 82.2, 91.1, 38.6, 73.8, 85.3, 424.2),
    "CSLS+RGM": (52.8, 83.0, 91.4, 40.4, 75.2, 86.3, 429.1),
}


def table_1(data: Path) -> Made:
    runs = {
        f"{model} {NAMES[loss]}": learned(loss, score=score)
        for model, score in (("GRU", "inner"), ("order", "order"))
        for loss in ("sum", "max", "hal")
    }
    rows = (runs | {f"GRU {name}": run for name, run in _of_table_2().items()}).items()
    return Made(
        f"rsum {_rsums(runs)}; hs-sum {numbers((run.hubs for run in runs.values()), 2)}",
        markdown(["model", *RECALLS, "hs-sum"], ((name, *run.cells) for name, run in rows)),
    )


def _of_table_2() -> dict[str, Learned]:
    return {NAMES[loss]: learned(loss) for loss in NAMES} | {"MAX+HAL, k = 1": learned("hal-max", 1)}


def table_2(data: Path) -> Made:
    return Made(f"rsum {_rsums(_of_table_2())}")


def figure_1(data: Path) -> Made:
    runs = {"SUM": learned("sum"), "MAX": learned("max")} | {f"HAL, k = {k}": learned("hal", k) for k in (1, 3, 10)}
    return Made(f"rsum {_rsums(runs)}")


def figure_2(data: Path) -> Made:
    counts = {NAMES[loss]: learned(loss).n_1 for loss in ("sum", "max", "hal")}
    return Made(
        f"largest N_1: {', '.join(f'{name} {one.max()}' for name, one in counts.items())}",
        hub_steps.tails(counts, (1, 5, 10, 20, 50)),
    )


def table_3(data: Path) -> Made:
    found = hub_steps.methods(data)
    return Made(", ".join(f"{name} {found[name][-1]:.1f}" for name in TABLE_4))


def table_4(data: Path) -> Made:
    found = hub_steps.methods(data)
    rows = (
        [name, *(f"{a:.1f} → {b:.1f}" for a, b in zip(paper, found[name], strict=True))]
        for name, paper in TABLE_4.items()
    )
    gains = {name: found[name][0] - found["NNS"][0] for name in ("IS", "CSLS", "CSLS+RGM")}
    return Made(
        "i→t R@1 over NNS: " + ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items()),
        f"Paper (SUM, MS-COCO) → ours.\n\n{markdown(['method', *RECALLS], rows)}",
    )


def figure_3(data: Path) -> Made:
    counts = hub_steps.occurrences(data)
    return Made(
        f"largest N_10: {', '.join(f'{name} {one.max()}' for name, one in counts.items())}",
        hub_steps.tails(counts, (10, 20, 50, 100, 200)),
    )


def figure_4(data: Path) -> Made:
    tried = hub_steps.by_relaxation(data)
    curves = {name: [one for one in tried if one.method == name] for name in dict.fromkeys(one.method for one in tried)}
    best = {name: max(curve, key=lambda one: one.rows[-1]) for name, curve in curves.items()}
    return Made(
        "; ".join(f"{name} best at {one.relaxation:g}, {one.rows[-1]:.1f}" for name, one in best.items())
        + f"; at 10: {numbers(curve[-1].rows[-1] for curve in curves.values())}",
        markdown(
            ["method", *(f"λ = {one.relaxation:g}" for one in curves["RGM"])],
            ([name, *(one.rows[-1] for one in curve)] for name, curve in curves.items()),
        ),
    )


def algorithm_1(data: Path) -> Made:
    by_hand, found = hub_steps.worked_case()
    if by_hand != found:
        raise ValueError(f"The matching is {found}, by hand {by_hand}.")
    return Made(found)


def _rsums(runs: dict[str, Learned]) -> str:
    return ", ".join(f"{name} {run.recall.rsum:.1f}" for name, run in runs.items())
