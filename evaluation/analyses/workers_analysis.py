"""What each worker did and how well, and the same by the number of HITs done (table B.1)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from annotation.models import Assignment
from core.progress import Progress
from core.seeds import SeedField
from core.text import counted
from counterpart_statistics.aggregation import Method
from counterpart_statistics.judged.worker_table import table_by_hits, worker_table
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.answered import Answered, AnswersParameters, read_answers
from mitl.charts.bars import bar_chart
from mitl.charts.drawing import Chart

CONTROL_BINS = (0, 50, 60, 70, 80, 90, 100)
SECOND_BINS = (0, 5, 10, 15, 20, 30, 45, 60)
SHOWN = 20  # workers on the terminal
Sort = Literal["hits", "reliability", "agreement", "controls_right", "seconds_per_pair"]


class WorkersParameters(AnswersParameters):
    method: Annotated[Method, "estimates the reliability"] = "dawid-skene"
    sort: Annotated[Sort, "order of the workers"] = "hits"
    seed: Annotated[int, SeedField(help_text="seed of methods with random starts")] = 0


def analyse(parameters: WorkersParameters, *, progress: Progress) -> Findings:
    """Describe the workers. Raises CounterpartError as ``read_answers``."""
    found = read_answers(parameters, progress=progress)
    method = parameters.method
    sort = parameters.sort
    progress("describing workers", 0, None)
    proposals = found.proposals if method == "consensus" else None
    table = worker_table(found.answers, found.sets, method=method, proposals=proposals, seed=parameters.seed)
    table = table.sort_values([sort, "worker"], ascending=[sort != "hits", True], na_position="last")
    buckets = table_by_hits(table, found.sets)
    rows: Any = table.to_dict("records")
    summary: Any = buckets.to_dict("records")
    signals = _signals(found)
    figures = {
        "of": found.name,
        "method": method,
        "by_hits": plain(summary),
        "workers": plain(rows),
        "signals": signals,
    }
    text = _text(found, buckets, table, method) + _signal_lines(signals)
    return Findings(figures, text, _chart(found, buckets, table), rows)


def _signals(found: Answered) -> list[dict[str, Any]]:
    """Return what signals found in the rounds' answer sets, the latest first; a version holds none."""
    if found.version is not None:
        return []
    flagged = Assignment.objects.filter(hit__round__in=found.rounds).exclude(signals=[]).order_by("-pk")
    rows = flagged.values_list("worker__pseudonym", "pk", "state", "signals")
    return [
        {"worker": worker, "assignment": pk, "state": state, **signal}
        for worker, pk, state, signals in rows
        for signal in signals
    ]


def _signal_lines(signals: Sequence[dict[str, Any]]) -> str:
    if not signals:
        return ""
    rows = [[str(one[name]) for name in ("worker", "assignment", "state", "sentence")] for one in signals[:SHOWN]]
    more = f"\n... and {len(signals) - SHOWN:,} more; --json lists all." if len(signals) > SHOWN else ""
    heads = ["worker", "assignment", "state", "evidence"]
    return f"\n\nSignals, which ask a person to look and reject nothing\n{text_table(heads, rows, left=4)}{more}"


def _text(found: Answered, buckets: pd.DataFrame, table: pd.DataFrame, method: str) -> str:
    forms = {"hits_per_worker": "", "workers": ",", "submitted": ",", "accepted": ",", "excluded": ","}
    forms |= {"rejected": ",.0f", "accepted_share": ".1%", "rejected_share": ".1%", "controls_right": ".1%"}
    per_bucket = [cells(row, **forms, seconds_per_pair=".1f") for row in buckets.to_dict("records")]
    heads = ["HITs a worker", "workers", "submitted", "accepted", "excluded", "rejected"]
    shares = ["accepted share", "rejected share", "controls right", "seconds a pair"]
    each = [
        [
            *cells(row, worker="", hits=",", accepted_share=".1%", rejected_share=".1%"),
            " of ".join(cells(row, controls_right=".1%", controls=",")),
            *cells(row, agreement=".1%", reliability=".1%", seconds_per_pair=".1f"),
        ]
        for row in table.head(SHOWN).to_dict("records")
    ]
    columns = ["worker", "HITs", *shares[:3], "with majority", "reliability", shares[3]]
    more = f"\n... and {len(table) - SHOWN:,} more workers; --json and --csv list all." if len(table) > SHOWN else ""
    return (
        f"{found.note}\n\nHITs submitted, what became of them, and the controls answered in all of them\n"
        f"{text_table([*heads, *shares], per_bucket)}\n\n"
        f"Each worker; agreement and reliability ({method}) by the {counted(len(found.votes), 'judgment')} that count\n"
        f"{text_table(columns, each)}{more}"
    )


def _chart(found: Answered, buckets: pd.DataFrame, table: pd.DataFrame) -> Chart:
    each: Any = buckets[buckets["hits_per_worker"] != "all"].to_dict("records")
    panels = {
        "workers": "workers",
        "submitted HITs": "submitted",
        "accepted share of their HITs": "accepted_share",
        "controls right": "controls_right",
    }
    return bar_chart(
        f"Workers by HITs done, {found.name[0].lower()}{found.name[1:]}",
        "As in ECCV Caption, table B.1.",
        {
            title: [{"name": row["hits_per_worker"], "value": plain(float(row[column]))} for row in each]
            for title, column in panels.items()
        }
        | {
            "workers by controls right": _histogram(100 * table["controls_right"], CONTROL_BINS, "%"),
            "workers by seconds a pair": _histogram(table["seconds_per_pair"], SECOND_BINS, " s"),
        },
        x="",
    )


def _histogram(values: pd.Series, edges: Sequence[float], unit: str) -> list[dict[str, Any]]:
    """Count the values between each two edges, the last one included; the rest is in the first and last bin."""
    counts, _ = np.histogram(values.dropna().clip(edges[0], edges[-1]), edges)
    names = [f"{low:g}-{high:g}{unit}" for low, high in pairwise(edges)]
    return [{"name": name, "value": int(count)} for name, count in zip(names, counts, strict=True)]
