"""The show of an audit: packed, judged by a crowd, killed on the way and resumed, estimated, released."""

import json
import re
from contextlib import suppress
from decimal import Decimal
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.asking.greedy_rounds import why_stopped
from hits.models import Round, Seat
from tests.commands import figures_printed
from tests.crowd.killing import Killer
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

QUERIES, SHARE = 14, 0.5
STORED = "store_answers"


def pack(name: str, folder, **options: object) -> Round:
    run_pack(folder, name, **options)
    return Round.objects.get(name=name)


def run_pack(folder, name: str, **options: object) -> dict:
    """Pack a round; what the command prints."""
    design = folder / "small.json"
    design.write_text(json.dumps(SMALL.as_json()))
    return figures_printed("pack", name, pool="pool", design=str(design), seed=4, reward="2.00", **options)


def work_killed_once(made: Round, killed: str, **options: object) -> None:
    """Have a crowd that sees exactly work on the round. Its process, or that of our site, is gone after the step
    ``killed``; then the same command goes on."""
    work = partial(call_command, "simulate", made.name, workers=12, seed=1, stdout=StringIO(), **options)
    killer = Killer(set(), only=killed)
    with suppress(CommandError):  # what the crowd says where our site is gone
        killer.do(work)
    assert killed in killer.killed_at
    assert Seat.objects.filter(round=made, state=Seat.State.OPEN).exists()
    work()


def estimates_of(name: str) -> list[dict]:
    return [{**one, "estimand": ""} for one in figures_printed("estimate", name)["estimates"]]


def failure_of(version: str) -> str:
    """What ``verify`` says where it fails."""
    try:
        figures_printed("verify", version)
    except CommandError as error:
        return str(error)
    return ""


def test_an_audit_that_was_killed_and_resumed_says_the_same_as_one_judged_in_one_go(tmp_path, profile):
    pool = known_pool(images=QUERIES)
    made = pack("audit", tmp_path, judge="audit", audit_share=SHARE)
    channel = {"channel": "browser", "expected_minutes": Decimal(8), "skip_missing": True}
    call_command("publish", "audit", stdout=StringIO(), **channel)
    made.refresh_from_db()
    work_killed_once(made, STORED, profile=profile())
    found = estimates_of("audit")
    assert {(one["kind"], one["n_audited"], one["missing"]) for one in found} == {("estimated", QUERIES * SHARE, 0)}
    judge_all(published(pack("witness", tmp_path, judge="audit", audit_share=SHARE)))
    assert found == estimates_of("witness")
    figures_printed("release", "v1", collection="zoo", queries=pool.sample.name, rounds="audit")
    assert not failure_of("v1")


def test_verify_and_diff_know_an_audit(tmp_path):
    known_pool(images=QUERIES)
    judge_all(published(pack("audit", tmp_path, judge="audit", audit_share=SHARE)))
    judge_all(published(pack("all", tmp_path)))
    for version, round in (("v1", "audit"), ("v2", "all")):
        figures_printed("release", version, collection="zoo", queries="queries", rounds=round)
        assert not failure_of(version)
    audit = Round.objects.get(name="audit")
    for changed in ({"seed": 5}, {"summary": audit.summary | {"judge": audit.summary["judge"] | {"share": 0.6}}}):
        Round.objects.filter(pk=audit.pk).update(**changed)
        assert failure_of("v1") == "Version v1 does not verify: packing."
        Round.objects.filter(pk=audit.pk).update(seed=audit.seed, summary=audit.summary)
    assert not failure_of("v1")
    found = figures_printed("diff", "v1", "v2")
    assert found["designs"] == {
        "v1": {"audit": {"judge": "audit", "share": SHARE, "greedy": False, "policy": 1, "seed": 4}},
        "v2": {},
    }


def test_a_greedy_round_stops_by_its_own_rule_and_is_released_with_its_guard(tmp_path, profile):
    pool = known_pool(images=QUERIES)
    packed = run_pack(tmp_path, "greedy", judge="audit+greedy", audit_share=0.3, stop_recall=0.8, top_up=1)
    assert packed["guard"] == "5 queries, fewer than the 150 advised"
    channel = {"channel": "browser", "expected_minutes": Decimal(8), "skip_missing": True}
    call_command("publish", "greedy", stdout=StringIO(), **channel)
    call_command("simulate", "greedy", workers=12, seed=1, profile=profile(), stdout=StringIO())
    made = Round.objects.get(name="greedy")
    assert {one.opened is None for one in made.top_ups.all()} == {True, False}  # further votes, and likely matches
    stopped = re.search(r"Enough: about (\d+)% found", why_stopped(made))
    assert int(stopped.group(1)) >= 80
    call_command("close", "greedy", stdout=StringIO())
    figures_printed("release", "v1", collection="zoo", queries=pool.sample.name, rounds="greedy")
    call_command("evaluate", version="v1", stdout=StringIO(), stderr=StringIO())
    assert not failure_of("v1")
    call_command("export", "v1", format="judgments-long", out=tmp_path / "out", stdout=StringIO())
    (card,) = (tmp_path / "out").rglob("README.md")
    assert card.read_text().count("| mAP@R | i2t |") == 3
    assert "guard: 5 queries" in card.read_text()
