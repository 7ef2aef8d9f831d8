"""What choosing pairs saves: python -m benchmarks.selection DATA [--seeds N] [--write]

DATA is the folder of public files that benchmarks.estimation takes. On ECCV Caption's queries in both directions, on
the demo's round and on a drawn world, all with known labels, it prints the share of the judgments after which each
policy has found the matches; what the guard does at half of the judgments; and what several turns need to find as many
new matches as the whole round. With --write into docs/benchmarks.md.
"""

import argparse
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import fresh_database

AUDIT = 0.2  # of the guarded budget
BUDGET = 0.5
TURNS = (
    ("two turns, the same annotators", (0.2,), False),
    ("two turns, one of them taught", (0.2,), True),
    ("three turns, one of them taught", (0.15, 0.25), True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--seeds", type=int, default=5, help="number of replays of each policy (default 5)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    options = parser.parse_args()
    with fresh_database():
        text = "\n".join(tables(options.data, options.seeds)) + "\n"
    print(text)
    if options.write:
        write_tables("selection", text)


def tables(data: Path, seeds: int) -> Iterator[str]:
    """Yield the lines of all tables. Django must be set up, as the product decides what is asked."""
    from benchmarks.estimation.beds import coco_texts, eccv_worlds, synthetic_bed
    from benchmarks.estimation.guards import round_of
    from benchmarks.selection.demo_round import demo_round
    from benchmarks.selection.policies import RECALLS
    from benchmarks.selection.turns import Listed

    found, guards, turns = [], [], []
    for world in eccv_worlds(data):
        bed = world.bed()
        found += savings(bed.name, [round_of(bed, 0)], seeds)
        guards.append(guard(bed))
        texts = {"topics": coco_texts(data)[2]["topics"]}
        turns += several_turns(Listed.of(world, bed), texts, seeds)
    found += savings("the demo's round", demo_round(), seeds)
    drawn = synthetic_bed()
    found += savings(drawn.name, [round_of(drawn, 0)], seeds)
    guards.append(guard(drawn))
    yield f"{date.today():%d %B %Y}, {process_time() / 60:.0f} minutes of processor time.\n"
    yield f"Judgments until the pool's matches are found, median of {seeds} seeds (lowest to highest):\n"
    yield "| queries | policy | " + " | ".join(f"{share:.0%}" for share in RECALLS) + " |\n|---|---|" + "---|" * 5
    yield from found
    yield (
        f"\nGuarded rounds of {BUDGET:.0%} of the judgments, {AUDIT:.0%} of these for the audit; ten audits without a "
        "common query. Bias of mAP@R, mean over the models: of the scores with unjudged pairs as no matches, of the "
        "guarded estimates, and by how much a single round is off.\n\n"
        "| queries | matches found | bias of the scores | of the estimates | ratio | one round's scores | estimates |\n"
        "|---|---|---|---|---|---|---|"
    )
    yield from guards
    yield (
        "\nJudgments until as many new matches are found as the whole first pool holds, by the judgments of its whole "
        "round. How far the models' mAP@R by the matches found is from that by all listed ones: mean deviation, mean "
        "deviation without the shift that all models share, order (Kendall's τ).\n\n"
        "| queries | rounds | judgments | deviation | without the shift | τ |\n|---|---|---|---|---|---|"
    )
    yield from turns


def savings(name: str, wholes: Sequence, seeds: int) -> list[str]:
    """Return the rows of every policy on a round's directions."""
    from benchmarks.selection.policies import POLICIES, RECALLS, Labelled

    pairs = Labelled.of(wholes)
    rows = [f"| {name} | **{len(pairs.codes):,} pairs**, {pairs.matches.mean():.0%} matches |" + " |" * len(RECALLS)]
    for policy, order in POLICIES.items():
        shares = 100 * np.array([pairs.shares(order(wholes, seed)) for seed in range(seeds)])
        cells = [spread(column) for column in shares.T]
        rows.append(f"| {name} | {policy} | {' | '.join(cells)} |")
    return rows


def guard(bed) -> str:
    """Return the row of ten guarded rounds. No two of them audit the same query."""
    from benchmarks.estimation.guards import guarded_round

    truth = bed.metrics[0].mean(axis=1)
    kinds = ("benchmark", "estimated")
    played = [guarded_round(bed, share=BUDGET, audit=AUDIT, seed=0, part=part) for part in range(10)]
    scores, estimates = (np.array([getattr(one, kind)[0] - truth for one in played]) for kind in kinds)
    bias = [np.abs(off.mean(axis=0)).mean() for off in (scores, estimates)]
    single = [np.abs(off).mean() for off in (scores, estimates)]
    found = np.median([one.found for one in played])
    cells = f"{bias[0]:.4f} | {bias[1]:.4f} | 1/{bias[0] / bias[1]:.0f} | {single[0]:.4f} | {single[1]:.4f}"
    return f"| {bed.name} | {found:.1%} | {cells} |"


def several_turns(listed, texts, seeds: int) -> list[str]:
    """Return the row of the whole round and those of the turns."""
    outcomes = {"whole round": [listed.whole_round()]}
    for name, shares, is_taught in TURNS:
        outcomes[name] = [listed.turns(shares, texts if is_taught else {}, seed) for seed in range(seeds)]
    rows = []
    for name, played in outcomes.items():
        judgments, *bias = np.transpose(played)
        cells = " | ".join(f"{np.median(one):.3f}" for one in bias)
        rows.append(f"| {listed.world.name} | {name} | {spread(100 * judgments)} | {cells} |")
    return rows


def spread(values: np.ndarray) -> str:
    """Return the median as percent, with the range where there is one."""
    middle, low, high = (f"{one:.1f}" for one in (np.median(values), values.min(), values.max()))
    return f"{middle}%" if low == high else f"{middle}% ({low} to {high})"


if __name__ == "__main__":
    main()
