"""The commands pack and plan_round, as a shell sees them."""

import pytest

from core.models import Job
from core.work import jobs
from hits.models import Round
from mitl.models import Pool, Retrieval
from tests.commands import figures_printed, output_of
from tests.factories import make_annotator, make_collection
from tests.hits.pools import pool_of

ZOO = ["--collection=zoo", "--annotators=one,two", "--images=12", "--captions=12", "--control-depth=4", "--top-k=3"]


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    path.write_text('{"name": "small", "candidates": 4, "positives": 1, "negatives": 1}')
    return str(path)


def test_pack_prints_what_the_round_holds_and_costs(db, small):
    pool_of(37)
    lines = output_of("pack", "r", "--pool", "pool", "--design", small).splitlines()
    assert {"round: r", "pairs: 37", "hits: 10", "controls that fill the last HIT: 3"} <= set(lines)
    assert {"cost browser: $25.00", "cost mturk: $30.00", "ceiling: $500.00"} <= set(lines)
    figures = figures_printed("pack", "r", "--pool", "pool", "--design", small)
    assert (figures["pairs"], figures["cost_mturk"]) == (37, "30.00")
    assert figures["plan_hash"] == Round.objects.get().plan_hash


@pytest.mark.parametrize(
    ("options", "reward", "wage"),
    [
        ([], "2.50", "$15.00 an hour for the usual 10 minutes, the floor"),
        (["--task", "determinate"], "1.25", "$15.00 an hour for the usual 5 minutes, the floor"),
        (["--reward", "3"], "3.00", "$18.00 an hour for the usual 10 minutes; the floor is $15.00"),
        (
            ["--reward", "0.65"],
            "0.65",
            "$3.90 an hour for the usual 10 minutes, below the floor of $15.00: pass --reward 2.50 or leave --reward "
            "out. publish asks for --expected-minutes, a pilot, or --below-floor",
        ),
    ],
)
def test_the_reward_is_the_floor_for_the_usual_minutes_and_its_wage_is_printed(db, options, reward, wage):
    pool_of(40)
    figures = figures_printed("pack", "r", "--pool", "pool", *options)
    assert (figures["reward"], figures["wage"]) == (reward, wage)


def test_pack_says_at_once_where_a_round_costs_more_than_its_ceiling(db, small):
    pool_of(37)
    printed = output_of("pack", "r", "--pool", "pool", "--design", small, "--ceiling", "26")
    said = "mturk by $4.00, prolific by $11.80: publish refuses the round there. (set_ceiling r 37.80)"
    assert f"above the ceiling: {said}" in printed.splitlines()
    assert "above" not in output_of("pack", "q", "--pool", "pool", "--design", small, "--ceiling", "37.80")


def test_every_option_reaches_the_round(db, small):
    pool_of(40)
    given = "--reward 1.40 --reasons --replication 2 --top-up 3 --ceiling 60 --seed 5 --sharing allow"
    output_of("pack", "r", "--pool", "pool", "--design", small, *given.split())
    packed = Round.objects.get()
    assert (str(packed.reward), packed.reasons, packed.replication, packed.top_up) == ("1.40", True, 2, 3)
    assert (str(packed.ceiling), packed.seed, packed.summary["sharing"]) == ("60.00", 5, "allow")


@pytest.fixture
def zoo(db):
    make_collection("zoo", images=30)
    make_annotator("one"), make_annotator("two")


def test_one_command_plans_a_round(zoo):
    figures = figures_printed("plan_round", "r", *ZOO, "--top-k", "2", "--seed", "2")
    packed = Round.objects.get()
    assert (figures["round"], figures["hits"], packed.seed, packed.pool.top_k) == ("r", packed.hits.count(), 2, 2)


def test_in_the_background_nothing_is_done_before_a_worker_takes_the_job(zoo, monkeypatch):
    monkeypatch.setattr(jobs, "send", lambda job: None)
    printed = figures_printed("plan_round", "r", *ZOO, "--background")
    job = Job.objects.get(pk=printed["job"])
    assert (job.state, job.title) == ("queued", "Plan round r")
    assert not Pool.objects.exists()


def test_a_re_ranking_reaches_the_searches(zoo):
    figures_printed("plan_round", "r", *ZOO, "--annotators=one", "--rerank=is")
    assert Retrieval.objects.get().rerank == "is:beta=30"
