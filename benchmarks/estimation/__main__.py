"""Scores from a part of the judgments: python -m benchmarks.estimation DATA [--replays N] [--rounds R] [--write]

DATA is a folder with the public files of ECCV Caption, Crisscrossed Captions (CxC), the COCO captions and the crowd of
Flickr8k. On drawn metrics near 0 and 1, on Flickr8k, ECCV Caption and rare labels drawn on its pools, audits and rounds
of likely matches are replayed. Printed is how often the intervals hold what they are of and how wide they are, for each
question; the recall that rounds say, and where they stop; and how far scores are from those of a whole round: each with
the figure of before. With --write into tables.md of this folder, in part into docs/benchmarks.md, and the picture of
docs/how-sure.md.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.doc_tables import DOCS, write_tables
from benchmarks.estimation.beds import Bed, eccv_beds, flickr_beds, rare_beds
from benchmarks.estimation.questions import ends, narrow_metrics, proxy_of, questions, wide
from benchmarks.estimation.rounds import guards, looks, recalls
from counterpart_statistics.estimation import audit_order, nested_interval, score_interval

AUDITED = 150  # queries
TOPPED_UP = 60
MODEL = "seeing-6"  # its first items are in no annotator's list
LEFT = 190  # pixels
RIGHT = 640
STYLE = (
    "text{font:14px sans-serif;fill:#222}.s{font-size:12px;fill:#666}.b{stroke:#2667b8;stroke-width:8}.v{fill:#2667b8}"
    ".t{fill:#d1601a}.g{stroke:#ccc}@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#aaa}.b{stroke:#7db0f0}"
    ".v{fill:#7db0f0}.t{fill:#f0a060}.g{stroke:#444}}"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--replays", type=int, default=200, help="replays of each audit (default 200)")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each testbed (default 20)")
    parser.add_argument("--write", action="store_true", help="write the tables and the picture of the docs")
    options = parser.parse_args()
    eccv = eccv_beds(options.data)
    flickr = flickr_beds(options.data)
    beds = {"Flickr8k": flickr, "ECCV Caption": eccv, "rare (5%)": rare_beds(eccv)}
    parts = [ends(5 * options.replays), questions(list(beds.values()), options.replays)]
    parts.append(wide([*flickr, *eccv], options.replays))
    rounds = {name: [list(looks(bed, seed)) for seed in range(options.rounds)] for name, bed in beds.items()}
    text = "\n\n".join([*parts, recalls(rounds), guards(rounds)])
    print(text)
    if options.write:
        write_tables("estimation", recalls(rounds))
        Path(__file__).with_name("tables.md").write_text(f"# Written by python -m benchmarks.estimation\n\n{text}\n")
        (DOCS / "images" / "three-questions.svg").write_text(three_questions(eccv[0]))


def three_questions(bed: Bed, seed: int = 0) -> str:
    """Return the picture of docs/how-sure.md as SVG: mAP@R of a model outside the pool of a few annotators."""
    model = bed.models.index(MODEL)
    pool = narrow_metrics(bed)[0, model]
    wider = bed.metrics[0, model]
    order = audit_order(np.arange(len(pool)), seed).order
    audited, topped = (np.isin(np.arange(len(pool)), order[:n]) for n in (AUDITED, TOPPED_UP))
    proxy = proxy_of(bed, seed, AUDITED)[0, model]
    rows = [
        ("these queries", score_interval(pool, proxy, audited), pool.mean()),
        ("queries like these", score_interval(pool, proxy, audited, queries="like"), None),
        ("wide pool", nested_interval(wider, [proxy, pool], [audited, topped]), wider.mean()),
    ]
    lowest = min(float(found.low) for _, found, _ in rows) - 0.01
    scale = (RIGHT - LEFT) / (max(float(found.high) for _, found, _ in rows) + 0.01 - lowest)

    def x(value: float) -> float:
        return round(LEFT + (float(value) - lowest) * scale, 1)

    ticks = [tick / 50 for tick in range(50) if LEFT <= x(tick / 50) <= RIGHT]
    parts = [f'<text x="10" y="24">mAP@R of a model outside the pool: {AUDITED} of {len(pool):,} queries judged</text>']
    for tick in ticks:
        parts.append(f'<path class="g" d="M{x(tick)} 42V170"/><text class="s" x="{x(tick) - 12}" y="188">{tick}</text>')
    for place, (name, found, truth) in enumerate(rows):
        y = 65 + 42 * place
        low, value, high = (float(one) for one in (found.low, found.value, found.high))
        parts.append(f'<text x="10" y="{y + 5}">{name}</text><path class="b" d="M{x(low)} {y}H{x(high)}"/>')
        parts.append(f'<circle class="v" cx="{x(value)}" cy="{y}" r="7"/>')
        parts.append(f'<text x="{RIGHT + 12}" y="{y + 5}">{value:.3f} ({low:.3f} to {high:.3f})</text>')
        if truth is not None:
            parts.append(f'<path class="t" d="M{x(truth)} {y - 8}l6 -9h-12z"/>')
    parts.append('<path class="t" d="M18 205l6 -9h-12z"/><text class="s" x="30" y="204">what judging all says</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 210" role="img">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


if __name__ == "__main__":
    main()
