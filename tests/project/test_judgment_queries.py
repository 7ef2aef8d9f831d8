"""Judgments are asked for in one place, so that votes count alike everywhere."""

import re

from tests.project.names import APPS, ROOT

# `annotation/work/judgments.py` asks, two modules write, and three need rows of no round, worker or pair.
MAY_ASK = {
    "annotation/work/judgments.py",
    "annotation/work/retirement.py",
    "annotation/work/submissions.py",
    "console/home/stations.py",
    "console/pairs/explorer.py",
    "dataset/outside_judgments/judgment_import.py",
}
ASKS = re.compile(
    r"Judgment\._?(objects|default_manager|base_manager)\b|\bjudgment_set\b"
    r"|\.judgments\.(all|filter|exclude|order_by|values|exists|count|annotate|aggregate|select_related|first|last)\b"
)


def test_few_modules_ask_the_database_for_judgments():
    modules = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    asking = {path.relative_to(ROOT).as_posix() for path in modules if ASKS.search(path.read_text())}
    assert asking <= MAY_ASK, (
        f"{', '.join(sorted(asking - MAY_ASK))}: use votes_in(round), answers_in(round), answers_from(assignments), "
        "answers_by(workers), answers_to(controls) or answers_on(images, captions) of annotation/work/judgments.py; "
        "for tables of answers and verdicts, dataset/judged/."
    )
    assert asking == MAY_ASK, f"Remove {', '.join(sorted(MAY_ASK - asking))} from MAY_ASK: the list may only shrink."
