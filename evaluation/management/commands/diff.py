from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.csv_output import add_csv, check_csv, put_csv
from core.progress import TerminalBar
from core.text import counted, text_table
from dataset.models import Version
from dataset.versions.changes import Cause, Change, changes_between, count_causes, designs_of
from evaluation.analyses import csv_text
from evaluation.scores.score_checks import score_changes, score_table

COLUMNS = ("image", "caption", "before", "after", "cause")
SHOWN = 3  # pairs of each cause that are printed


class Command(ActCommand):
    step = "version"
    help = "Compare two versions: every pair that differs with its main cause, and the effect on the scores."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("before", help="name of the earlier version")
        parser.add_argument("after", help="name of the later version")
        add_csv(parser, "every changed pair and its cause")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        check_csv(options["csv"], as_json=options["json"])
        before, after = (Version.objects.named(options[name]) for name in ("before", "after"))
        changes = list(changes_between(before, after))
        scores = score_changes(before, after)
        if options["csv"] and (shown := put_csv(options["csv"], csv_text(list(map(_row, changes)), COLUMNS))):
            return shown
        if options["json"]:
            return {
                "before": before.name,
                "after": after.name,
                "changed_pairs": len(changes),
                "causes": count_causes(changes),
                "designs": {version.name: designs_of(version) for version in (before, after)},
                "changes": [_row(change) for change in changes],
                "scores": scores,
            }
        return "\n".join([*_text(before, after, changes), *_design_lines(before, after), *_score_lines(scores)])


def _text(before: Version, after: Version, changes: list[Change]) -> list[str]:
    if not changes:
        return [f"{before} and {after} say the same of every pair."]
    lines = [f"{counted(len(changes), 'pair differs', 'pairs differ')} between {before} and {after}:"]
    for name, count in count_causes(changes).items():
        cause = Cause(name)
        lines.append(f"  {count:>7,}  {cause.value}: {cause.label}")
        named = [change for change in changes if change.cause == cause]
        for change in named[:SHOWN]:
            row = _row(change)
            lines.append(
                f"           image {change.image}, caption {change.caption}: {row['before']} -> {row['after']}"
            )
    return lines


def _design_lines(before: Version, after: Version) -> list[str]:
    """Describe the rounds that ask a part of their pool, if the versions differ in them: other pairs may match."""
    if designs_of(before) == designs_of(after):
        return []
    lines = []
    for version in (before, after):
        asked = "; ".join(f"round {name} asks {_design_text(one)}" for name, one in designs_of(version).items())
        lines.append(f"  {version}: {asked or 'every round asks all pairs of its pool'}.")
    return ["The versions ask other pairs:", *lines]


def _design_text(design: dict[str, Any]) -> str:
    turn = f", in turn {design['turn']}, beyond {design['beyond']}" if "turn" in design else ""
    if design["judge"] == "audit":
        greedy = " and likely matches" if design.get("greedy") else ""
        return f"all pairs of {design['share']:.0%} of the queries{greedy}, an audit of seed {design['seed']}{turn}"
    return f"the first hits of its annotators{turn}"


def _score_lines(scores: list[dict[str, Any]]) -> list[str]:
    if not scores:
        return ["No model was scored on both versions, so the effect on scores is unknown. Run evaluate on both."]
    metrics, rows = score_table(scores)
    return ["Scores after it, and the change:", text_table(["", *metrics], [[name, *cells] for name, cells in rows])]


def _row(change: Change) -> dict[str, str]:
    said = {"before": change.before, "after": change.after}
    return {
        "image": change.image,
        "caption": change.caption,
        **{when: row.said if row else "not in it" for when, row in said.items()},
        "cause": str(change.cause.value),
    }
