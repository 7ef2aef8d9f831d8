"""Scores from a part of the judgments: python -m benchmarks.estimation DATA [--replays N] [--write]

DATA is a folder with the public files of ECCV Caption, Crisscrossed Captions (CxC) and the COCO captions. On two drawn
worlds whose truth is known, on ECCV Caption's queries in both directions and on the images whose captions people scored
for CxC, it replays rounds; each design judges a part of them. It prints, for each metric, the width of the intervals by
that of the whole round's, how often they hold the truth, on average over the models and for the lowest of them, and the
bias; then how the wide audit orders models that are not in the pool. With --write into docs/estimation.md.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.doc_tables import write_tables
from benchmarks.estimation.beds import Bed, cxc_bed, eccv_beds, judged, synthetic_bed
from benchmarks.estimation.guards import guarded_round
from benchmarks.estimation.replays import Prepared, replay
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.estimation import METRICS, estimate

PILOTS = 4
JUDGED_SHARE = 0.3
AUCS = (0.86, 0.93, 0.98)
RUNS = (
    ("whole round", 1.0, 1),
    ("subset, unjudged = no", 0.3, 1),
    ("whole queries, plain mean", 0.3, 1),
    ("whole queries, audit", 0.1, 1),
    ("whole queries, audit", 0.3, 1),
    ("whole queries, audit", 0.5, 1),
    ("pairs, one step", 0.3, 1),
    ("pairs, two-phase", 0.3, 1),
    ("first hits and audit", 0.5, 1),
    ("whole queries, audit", 0.25, 4),
    ("whole queries, audit", 0.55, 4),
)
COLUMNS = "| design | judgments | queries | metric | width | coverage | lowest model | models outside | bias |"
WRITTEN = ("mAP@R",)  # metrics whose tables go into the page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--replays", type=int, default=200, help="number of replays of each design (default 200)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/estimation.md")
    options = parser.parse_args()
    eccv = eccv_beds(options.data)
    beds = [synthetic_bed(), synthetic_bed(matches=1.5, seed=8), *eccv, cxc_bed(options.data)]
    text = "\n\n".join(
        [designs(beds, options.replays), machine_judge(eccv, options.replays), guard(eccv), wide_audit(options.replays)]
    )
    if options.write:
        write_tables("estimation", text, page="estimation.md")


def designs(beds: list[Bed], replays: int) -> str:
    """Print all figures of every testbed; return the tables of width and coverage by design and testbed."""
    cells = [measured(bed, replays) for bed in beds]
    heads = " | ".join(f"{bed.name}, {(bed.gains[bed.asked] > 0).mean():.0%} matches" for bed in beds)
    tables = []
    for metric in WRITTEN:
        rows = [f"| {metric}: design | judgments | queries | {heads} |", f"|---|---|---|{'---|' * len(beds)}"]
        for design, fraction, spread in RUNS:
            figures = " | ".join(of_bed.get((design, fraction, spread, metric), "") for of_bed in cells)
            rows.append(f"| {design} | {fraction:.0%} | × {spread} | {figures} |")
        tables.append("\n".join(rows))
    return "\n\n".join(tables)


def measured(bed: Bed, replays: int) -> dict[tuple, str]:
    """Print the table of a testbed; return width and coverage by design, share, spread and metric."""
    pilots = [Prepared.of(bed, seed) for seed in range(PILOTS)]
    one = pilots[0]
    quality = ", ".join(f"{name} {value:.2f}" for name, value in zip(METRICS[:3], one.quality[:3], strict=True))
    print(f"\n### {bed.name}\n\n{len(bed.groups):,} queries, {bed.pairs.sum():,} pairs to judge.", end=" ")
    first_hits = one.core.sum() / bed.pairs.sum()
    print(f"Quality of the proxy (ρ²): {quality}. First hits of all models: {first_hits:.1%} of the pairs.\n")
    print(COLUMNS)
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    cells = {}
    for design, fraction, spread in RUNS:
        tally = replay(pilots, design, fraction, spread, replays=replays)
        for number, metric in enumerate(METRICS[:3]):
            if tally is None:
                continue
            row = tally.row(one, number)
            cells[design, fraction, spread, metric] = f"{row['width']:.2f} ({row['coverage']:.3f})"
            print(
                f"| {design} | {fraction:.0%} | × {spread} | {metric} | {row['width']:.2f} | {row['coverage']:.3f} "
                f"| {row['lowest']:.3f} | {row['outside']:.3f} | {row['bias']:.4f} |",
                flush=True,
            )
    return cells


def machine_judge(beds: list[Bed], replays: int) -> str:
    """Return what a machine judge of each quality brings to audits for 30% of the judgments, on four times the
    queries. The probabilities are learned from as many queries as such an audit judges."""
    lines = [
        "Audits for 30% of the judgments on four times the queries, with a machine judge that answers every pair: "
        "the squared correlation of its proxy and the metric (ρ²), and the width by that of the whole round's intervals"
        " with coverage in brackets.\n",
        "| queries | judge's AUC | mAP@R ρ² | mAP@R | R-Precision | R@1 |\n|---|---|---|---|---|---|",
    ]
    for bed in beds:
        for auc in (None, *AUCS):
            judging = judged(bed, auc) if auc else bed
            pilots = [Prepared.of(judging, seed, JUDGED_SHARE) for seed in range(2)]
            tally = replay(pilots, "whole queries, audit", JUDGED_SHARE, 4, replays=replays)
            assert tally
            rows = [tally.row(pilots[0], number) for number in range(3)]
            figures = " | ".join(f"{row['width']:.2f} ({row['coverage']:.3f})" for row in rows)
            quality = np.mean([one.quality[0] for one in pilots])
            lines.append(f"| {bed.name} | {auc or 'none'} | {quality:.2f} | {figures} |")
    text = "\n".join(lines)
    print(text, flush=True)
    return text


def guard(beds: list[Bed], rounds: int = 12) -> str:
    """Return what an audit takes off the bias of a greedy round at half of the judgments."""
    lines = [
        f"Half of the pairs judged, a fifth of them as an audit, the rest by probability; mean of {rounds} "
        "rounds. Bias of mAP@R over the models: of the scores with unjudged pairs as no matches, and of the estimates "
        "that the audit corrects.\n",
        "| queries | matches found | bias of the scores | bias of the estimates |\n|---|---|---|---|",
    ]
    for bed in beds:
        truth = bed.metrics[0].mean(axis=1)
        played = [guarded_round(bed, share=0.5, audit=0.2, seed=seed) for seed in range(rounds)]
        found = np.mean([one.found for one in played])
        biases = [
            np.abs(np.mean([getattr(one, kind)[0] for one in played], axis=0) - truth).mean()
            for kind in ("benchmark", "estimated")
        ]
        lines.append(f"| {bed.name} | {found:.0%} | {biases[0]:.4f} | {biases[1]:.4f} |")
    text = "\n".join(lines)
    print(text)
    return text


def wide_audit(replays: int) -> str:
    """Return how near the order of all models is to the true one: of the whole round over the annotators' pool, and of
    an audit of 15% of its cost over the pool of all models."""
    bed = synthetic_bed(queries=1500, items=4000)
    wide = Prepared.of(synthetic_bed(queries=1500, items=4000, wide=True), 0)
    metrics, proxy = wide.metrics[0], wide.expected.mean[0]
    share = 0.15 * bed.pairs.sum() / wide.bed.pairs.sum()
    rng = np.random.default_rng(0)
    taus = []
    for _ in range(replays):
        audited = rng.random(len(wide.bed.groups)) < share
        values = [estimate(*model, audited, share).value for model in zip(metrics, proxy, strict=True)]
        taus.append(tau_b(values, bed.truth[0]))
    whole = tau_b(bed.metrics[0].mean(axis=1), bed.truth[0])
    text = (
        f"Order of ten models by mAP@R against the truth (Kendall's τ), 1,500 drawn queries: the whole round over the "
        f"pool of five {whole:.2f}; an audit of {share:.0%} of the queries over the pool of all ten, for 15% of its "
        f"judgments, {np.mean(taus):.2f} (a twentieth of the audits below {np.quantile(taus, 0.05):.2f})."
    )
    print(text)
    return text


if __name__ == "__main__":
    main()
