"""Re-rankings of annotators' scores side by side: tables 3 and 4 and figure 4 of the hubness paper."""

from collections.abc import Sequence
from typing import Any

from core.errors import CounterpartError
from core.progress import Progress
from corpus.models import Collection, Match
from counterpart_topk.hubness.score_blocks import MEMORY, in_memory
from counterpart_topk.hubness.step_tables import best_relaxations, compare_methods, vary_relaxation
from evaluation.analyses import Findings, shown, text_table
from mitl.active_learning.active_steps import TEST, read_measured
from mitl.annotators import load
from mitl.charts.lines import line_chart
from mitl.models import Annotator
from mitl.search.retrieval import errors_of
from mitl.search.tuning import SPLIT

Rows = list[dict[str, Any]]


def compare_steps(collection: Collection, annotators: Sequence[Annotator], progress: Progress) -> Findings:
    """Return the recall of every method on the split test, with the relaxations that are best on val, and that of RGM
    on val by its relaxation. Where one of the splits is missing, both are of the other, and relaxations are 2.

    Raises CounterpartError for a collection with neither split, and for annotators without scores.
    """
    splits = [split for split in (SPLIT, TEST) if collection.images.filter(split=split).exists()]
    if not splits:
        raise CounterpartError(f"{collection} has no images in the splits test and val; import it with its splits.")
    rows = [row for annotator in annotators for row in _rows_of(annotator, collection, splits, progress)]
    table = [[shown(cell, "" if isinstance(cell, str) else ".4g") for cell in row.values()] for row in rows]
    curves = {
        annotator.name: [
            {"line": row["method"], "x": row["relaxation"], "y": row["i2t R@10"]}
            for row in rows
            if row["annotator"] == annotator.name and row["table"] == "by relaxation"
        ]
        for annotator in annotators
    }
    chart = line_chart("RGM by its relaxation", f"Split {splits[0]}.", curves, "relaxation", "i2t R@10, %", zero=False)
    return Findings(
        {"collection": collection.name, "rows": rows}, text_table(list(rows[0]), table, left=4), chart, rows
    )


def _rows_of(
    annotator: Annotator, collection: Collection, splits: Sequence[str], progress: Progress
) -> list[dict[str, Any]]:
    with errors_of(annotator):
        opened = load(annotator)
        parts = [read_measured(collection, split, Match.ORIGINAL) for split in splits]
        scores = [in_memory(opened.scores(part.images, part.captions, progress=progress), MEMORY) for part in parts]
        tried = vary_relaxation(scores[0], parts[0].pairs, progress=progress)
        chosen = best_relaxations(tried) if len(splits) > 1 else {}
        methods = compare_methods(scores[-1], parts[-1].pairs, chosen, progress=progress)
    tables = {"methods": (splits[-1], methods), "by relaxation": (splits[0], tried)}
    return [
        {"annotator": annotator.name, "split": split, "table": table, **one.figures()}
        for table, (split, found) in tables.items()
        for one in found
    ]
