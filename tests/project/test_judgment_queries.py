"""Judgments are asked for in one place, so that votes count alike everywhere. Events are only shown."""

import re

from tests.project.names import APPS, ROOT

# Only these modules query judgments. `annotation/work/judgments.py` is the reader; the module of qualification
# questions may not import it.
MAY_ASK = {
    "annotation/people/qualification_questions.py",
    "annotation/work/judgments.py",
    "annotation/work/retirement.py",
    "annotation/work/submissions.py",
}
# Every app writes events; only pages read them.
MAY_READ_EVENTS = {
    "core/events.py",
    "console/events/views.py",
    "console/home/views.py",
    "console/rounds/vote_orders.py",
}
ASKS = re.compile(
    r"Judgment\._?(objects|default_manager|base_manager)\b|\bjudgment_set\b"
    r"|\.judgments\.(all|filter|exclude|order_by|values|exists|count|annotate|aggregate|select_related|first|last)\b"
)


def modules_with(words: re.Pattern) -> set[str]:
    paths = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    return {path.relative_to(ROOT).as_posix() for path in paths if words.search(path.read_text())}


def test_no_decision_rests_on_an_event():
    assert modules_with(re.compile(r"Event\.objects")) <= MAY_READ_EVENTS


def test_few_modules_ask_the_database_for_judgments():
    asking = modules_with(ASKS)
    assert asking <= MAY_ASK, (
        f"{', '.join(sorted(asking - MAY_ASK))}: use votes_in(round), answers_in(round), answers_from(assignments), "
        "answers_by(workers), answers_to(controls) or answers_on(images, captions) of annotation/work/judgments.py; "
        "for tables of answers and verdicts, dataset/judged/."
    )
    assert asking == MAY_ASK, f"Remove {', '.join(sorted(MAY_ASK - asking))} from MAY_ASK: the list may only shrink."
