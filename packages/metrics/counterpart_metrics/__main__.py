"""python -m counterpart_metrics EXPORT RANKINGS ...: score models on an exported version."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.explained import Wanted, explain, figures_of, printed
from counterpart_metrics.exported import ExportedVersion
from counterpart_metrics.policies import DEFAULT, MISSING, TIES, Policies
from counterpart_metrics.protocols import score_protocols, settings_of
from counterpart_metrics.ranking_files import READERS, model_names, stream_rankings
from counterpart_metrics.scorer import AVERAGE, SCORED, SCORERS, Scores, evaluate


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="counterpart_metrics", description=__doc__)
    parser.add_argument("export", type=Path, help="folder of an export, eccv-json or qrels, or a file of it")
    parser.add_argument("rankings", type=Path, nargs="+", help=f"files of rankings: {', '.join(READERS)}")
    parser.add_argument("--ties", choices=TIES, default=DEFAULT.ties, help="order of items with equal scores")
    parser.add_argument("--missing", choices=MISSING, default=DEFAULT.missing, help="ranks beyond the end of a list")
    parser.add_argument(
        "--metrics", type=lambda text: text.split(","), default=SCORED, metavar="M,M", help=", ".join(SCORERS)
    )
    parser.add_argument("--json", action="store_true", help="print the figures with their intervals as JSON")
    parser.add_argument("--explain", metavar="FIGURE", help="say which protocol gives a figure: 61.1 or R@1 i2t=61.1")
    options = parser.parse_args(arguments)
    try:
        policies = Policies(options.ties, options.missing)
        version = ExportedVersion.read(options.export)
        if options.explain:
            print("\n\n".join(_explained(version, path, options.explain, options.json) for path in options.rankings))
            return
        scores: dict[str, Scores] = {}
        for path, model in zip(options.rankings, model_names(options.rankings), strict=True):
            scores |= evaluate(path, version, model=model, policies=policies, metrics=options.metrics)
    except CounterpartError as error:
        sys.exit(f"counterpart_metrics: {error}")
    print(json.dumps({model: _figures(scored) for model, scored in scores.items()}) if options.json else _table(scores))


def _explained(version: ExportedVersion, path: Path, figure: str, as_json: bool) -> str:
    wanted = Wanted.of(figure)
    ids = version.ids()
    settings = settings_of(version.name, version.qrels(ids), ids)
    protocols, notes = score_protocols(path.stem, stream_rankings(path, ids), settings)
    found = explain(protocols, wanted)
    return json.dumps(figures_of(found, wanted, notes)) if as_json else printed(found, wanted, notes)


def _figures(scores: Scores) -> dict[str, Any]:
    return {
        part: {
            metric: {name: None if isnan(value) else value for name, value in asdict(figure).items()}
            for metric, figure in metrics.items()
        }
        for part, metrics in scores.figures.items()
    } | {"notes": list(scores.notes)}


def _table(scores: dict[str, Scores]) -> str:
    """Return a table of percentages for each part, a row a model."""
    width = max([5, *map(len, scores)])
    lines: list[str] = []
    for part, title in ({AVERAGE: "average of both"} | DIRECTIONS).items():
        rows = {model: scored.figures[part] for model, scored in scores.items() if part in scored.figures}
        if not rows:
            continue
        metrics = list(next(iter(rows.values())))
        lines += ["", title, "  ".join(["model".ljust(width), *(metric.rjust(6) for metric in metrics)])]
        for model, figures in rows.items():
            cells = [f"{100 * figures[metric].value:.1f}".rjust(max(6, len(metric))) for metric in metrics]
            lines.append("  ".join([model.ljust(width), *cells]))
    return "\n".join([*lines[1:], *(f"{model} {note}" for model, scored in scores.items() for note in scored.notes)])


if __name__ == "__main__":
    main()
