"""How often each reason was named, by level, direction and annotator (table B.3)."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from django.db.models import TextChoices

from core.errors import CounterpartError
from core.progress import Progress
from counterpart_statistics.judged import PAIR
from evaluation.analyses import Findings, plain, shown, text_table
from evaluation.answered import Answered, AnswersParameters, read_answers
from hits.question import Level, Shortcoming, WrongWay
from mitl.charts.bars import bar_chart
from mitl.charts.drawing import COLOURS, Chart
from mitl.models import Direction

ASKED = (Level.PARTIALLY_YES, Level.MOSTLY_NO)  # the levels that ask for a reason
REASONS: dict[str, type[TextChoices]] = {"shortcoming": Shortcoming, "wrong_way": WrongWay}
TITLES = {"shortcoming": "Shortcomings", "wrong_way": "What is described in a wrong way"}
SHORT: dict[str, str] = {
    Shortcoming.NOT_IN_IMAGE: "not in image",
    Shortcoming.NOT_IN_CAPTION: "not in caption",
    Shortcoming.WRONG_WAY: "wrong way",
    Shortcoming.GRAMMAR: "grammar",
}


def analyse(parameters: AnswersParameters, *, progress: Progress) -> Findings:
    """Count the reasons. Raises CounterpartError as ``read_answers``, and if no reason was given."""
    found = read_answers(parameters, progress=progress)
    given = found.votes[found.votes["shortcoming"] != ""]
    if given.empty:
        raise CounterpartError(f"{found.name} has no reasons. Pack a round with --reasons to ask for them.")
    progress("counting reasons", 0, None)
    rows = list(_rows(found, given))
    asked = int(found.votes["level"].isin(ASKED).sum())
    figures = {"of": found.name, "asked": asked, "given": len(given), "reasons": plain(rows)}
    return Findings(figures, _text(found, asked, rows), _chart(found, rows), rows)


def _rows(found: Answered, given: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row per reason and group; shares are of the group's judgments that name a reason of that kind."""
    for kind, choices in REASONS.items():
        named = given[given[kind] != ""]
        for by, groups in _groups(found, named).items():
            for group, members in groups.items():
                counts = members[kind].value_counts()
                for choice in choices:
                    count = int(counts.get(choice.value, 0))
                    share = count / len(members) if len(members) else float("nan")
                    yield {
                        "kind": kind,
                        "by": by,
                        "group": group,
                        "reason": str(choice.value),
                        "count": count,
                        "share": share,
                        "judgments": len(members),
                    }


def _groups(found: Answered, named: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Return by what → group → its judgments. A pair that several annotators proposed is in each one's group."""
    groups = {"": {"all": named}, "level": {level.label: named[named["level"] == level.value] for level in ASKED}}
    for by in ("direction", "annotator"):
        of_pairs = found.proposals[[*PAIR, by]].drop_duplicates()
        merged = named.merge(of_pairs, on=PAIR)
        groups[by] = {name: merged[merged[by] == name] for name in sorted(of_pairs[by].unique())}
    return groups


def _text(found: Answered, asked: int, rows: list[dict[str, Any]]) -> str:
    given = next(row["judgments"] for row in rows if row["kind"] == "shortcoming" and not row["by"])
    parts = [f"{found.note}\n{given:,} of {asked:,} judgments at levels 2 and 3 name a reason."]
    for kind, choices in REASONS.items():
        lines = []
        for by, group in dict.fromkeys((row["by"], row["group"]) for row in rows):
            cells = [row for row in rows if (row["kind"], row["by"], row["group"]) == (kind, by, group)]
            shares = [shown(100 * row["share"], ".1f") for row in cells]
            lines.append([_title(by, group), f"{cells[0]['judgments']:,}", *shares])
        heads = ["", "judgments", *(SHORT.get(choice, choice.value) for choice in choices)]
        parts.append(f"{TITLES[kind]}, in percent\n{text_table(heads, lines)}")
    return "\n\n".join([*parts, "A pair that several annotators proposed counts for each of them."])


def _title(by: str, group: str) -> str:
    return Direction(group).label if by == "direction" else group


def _chart(found: Answered, rows: list[dict[str, Any]]) -> Chart:
    colours = dict(zip(SHORT.values(), COLOURS, strict=False))
    shortcomings = [
        {
            "name": _title(row["by"], row["group"]),
            "part": SHORT[Shortcoming(row["reason"])],
            "value": 100 * row["share"],
        }
        for row in rows
        if row["kind"] == "shortcoming" and row["judgments"]
    ]
    return bar_chart(
        f"Reasons in {found.name[0].lower()}{found.name[1:]}",
        "Shares of the judgments at levels 2 and 3 that name a reason, as in ECCV Caption, table B.3.",
        {"shortcomings": shortcomings},
        x="percent",
        parts=colours,
    )
