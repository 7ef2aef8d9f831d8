"""The command pack, as a shell sees it."""

import json

import pytest
from django.core.management import call_command

from hits.models import Round
from tests.hits.pools import pool_of


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    path.write_text('{"name": "small", "candidates": 4, "positives": 1, "negatives": 1}')
    return str(path)


def pack(capsys, *arguments):
    call_command("pack", *arguments)
    return capsys.readouterr().out


def test_pack_prints_what_the_round_holds_and_costs(db, capsys, small):
    pool_of(37)
    lines = pack(capsys, "r", "--pool", "pool", "--design", small).splitlines()
    assert {"round: r", "pairs: 37", "hits: 10", "controls that fill the last HIT: 3"} <= set(lines)
    assert {"cost browser: $6.50", "cost mturk: $7.80", "ceiling: $500.00"} <= set(lines)
    figures = json.loads(pack(capsys, "r", "--pool", "pool", "--design", small, "--json"))
    assert (figures["pairs"], figures["cost_mturk"]) == (37, "7.80")
    assert figures["plan_hash"] == Round.objects.get().plan_hash


def test_pack_says_at_once_where_a_round_costs_more_than_its_ceiling(db, capsys, small):
    pool_of(37)
    printed = pack(capsys, "r", "--pool", "pool", "--design", small, "--ceiling", "7")
    said = "above the ceiling: mturk by $0.80, prolific by $2.80: publish refuses the round there. (set_ceiling r 9.80)"
    assert said in printed.splitlines()
    assert "above" not in pack(capsys, "q", "--pool", "pool", "--design", small, "--ceiling", "9.80")


def test_every_option_reaches_the_round(db, capsys, small):
    pool_of(40)
    given = "--reward 1.40 --reasons --replication 2 --top-up 3 --ceiling 60 --seed 5 --sharing allow"
    pack(capsys, "r", "--pool", "pool", "--design", small, *given.split())
    packed = Round.objects.get()
    assert (str(packed.reward), packed.reasons, packed.replication, packed.top_up) == ("1.40", True, 2, 3)
    assert (str(packed.ceiling), packed.seed, packed.summary["sharing"]) == ("60.00", 5, "allow")
