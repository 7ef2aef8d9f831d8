"""Which captions workers call determinate: the share of yes of each, in a round of the task determinate."""

from collections import Counter
from typing import Annotated, Any

from django.db.models import Count, Q

from annotation.work.judgments import answers_in
from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from evaluation.analyses import Findings, text_table
from evaluation.answered import round_of_task
from hits.models import Round
from hits.question import Level
from hits.task_types.determinate import DETERMINATE
from mitl.charts.bars import bar_chart


class DeterminateParameters(Parameters):
    round: Annotated[str, "a round of the task determinate", POSITIONAL]


def analyse(parameters: DeterminateParameters, *, progress: Progress) -> Findings:
    """Count the answers that count by caption; one is determinate where more than half of its votes say so.

    Raises CounterpartError for a round of another task, and if no judgment counts.
    """
    found = round_of_task(parameters.round, DETERMINATE)
    progress("reading judgments", 0, None)
    rows = _rows(found)
    determinate = sum(row["determinate"] for row in rows)
    figures = {
        "round": found.name,
        "captions": len(rows),
        "votes": sum(row["votes"] for row in rows),
        "determinate": determinate,
        "mean share of yes": float(f"{sum(row['yes'] for row in rows) / len(rows):.4f}"),
    }
    by_share = Counter(f"{share:.2f}" for share in sorted((row["yes"] for row in rows), reverse=True))
    table = text_table(["share of yes", "captions"], [[share, str(count)] for share, count in by_share.items()])
    text = f"{determinate:,} of {len(rows):,} captions are determinate by more than half of their votes.\n\n{table}"
    bars = [{"name": share, "value": count} for share, count in by_share.items()]
    chart = bar_chart(
        f"Determinate captions of round {found}", "Captions by their share of yes", {"": bars}, x="captions"
    )
    return Findings(figures, text, chart, rows)


def _rows(round: Round) -> list[dict[str, Any]]:
    """Return a row for each caption with a vote, by its key."""
    yes = Count("pk", filter=Q(level=Level.YES))
    of_round = answers_in(round).counted().order_by("caption__key")
    counts: Any = of_round.values_list("caption__key", "caption__text").annotate(votes=Count("pk"), yes=yes)
    return [
        {"caption": key, "text": text, "votes": votes, "yes": yes / votes, "determinate": 2 * yes > votes}
        for key, text, votes, yes in counts
    ]
