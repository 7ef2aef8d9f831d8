"""The parameters of a round: defaults, limits and their JSON form."""

import json
from decimal import Decimal

import pytest

from core.errors import CounterpartError
from hits.management.commands.pack import Command
from hits.packing.designs import DESIGNS
from hits.rounds.round_parameters import PackParameters, RoundParameters

LEAST = {"round": "r", "collection": "zoo", "annotators": ["one"], "images": 5}


def test_a_name_a_collection_annotators_and_queries_are_enough():
    plan = RoundParameters.from_json(LEAST)
    assert (plan.sample_name, plan.pool_name, plan.composition.name) == ("r-queries", "r-pool", "eccv-18")
    assert (plan.reward, plan.pay, plan.ceiling, plan.seats) == (None, Decimal("2.50"), Decimal("500"), 1)


def test_parameters_survive_json():
    design = {"name": "small", "candidates": 4, "positives": 1, "negatives": 1}
    given = {**LEAST, "design": design, "reward": "1.40", "reasons": True, "sharing": "allow", "seed": 2**63 - 1}
    given |= {"annotators": ["words", "vilt"], "cascade": "words", "cascade_depth": 9, "rerank": "csls:k=3,rgm"}
    plan = RoundParameters.from_json(given)
    assert RoundParameters.from_json(json.loads(json.dumps(plan.as_json()))) == plan


def test_amounts_are_in_whole_cents():
    assert RoundParameters.from_json({**LEAST, "reward": "1.4"}).as_json()["reward"] == "1.40"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"colour": "red"}, "1 unknown parameter: colour"),
        ({"images": "many"}, "Invalid images 'many'"),
        ({"seed": True}, "Invalid seed True"),
        ({"annotators": 3}, "Invalid annotators 3"),
        ({"annotators": []}, "Invalid annotators .*required"),
        ({"reasons": "no"}, "Invalid reasons 'no'"),
        ({"reward": "a lot"}, "Invalid reward 'a lot'"),
        ({"reward": "-1"}, "Invalid reward '-1'"),
        ({"design": "/etc/passwd"}, "^Unknown design '/etc/passwd': .*repeat-18"),
        ({"design": {"name": "x"}}, "JSON object of exactly"),
        ({"round": "two words"}, "Invalid round 'two words'"),
        ({"round": "r" * 73}, "at most 72 characters"),
        ({"top_up": 1}, "Invalid top-up 1"),
        ({"top_up": -1}, "Invalid top up -1"),
        ({"images": 0}, "Round r has no queries"),
        ({"sharing": "never"}, "Invalid sharing 'never'"),
        ({"seed": -1}, "Invalid seed -1"),
        ({"seed": 2**63}, "9223372036854775807"),
        ({"reward": "0.655"}, "Invalid reward '0.655'"),
        ({"reward": "NaN"}, "Invalid reward 'NaN'"),
        ({"ceiling": "Infinity"}, "Invalid ceiling 'Infinity'"),
        ({"replication": 0}, "Invalid replication 0"),
        ({"replication": 100}, "Invalid replication 100"),
    ],
)
def test_an_invalid_parameter_is_named(wrong, message):
    with pytest.raises(CounterpartError, match=message):
        RoundParameters.from_json({**LEAST, **wrong})


@pytest.mark.parametrize("name", ["round", "collection", "annotators"])
def test_a_missing_parameter_is_named(name):
    with pytest.raises(CounterpartError, match=f"missing parameter: {name}"):
        RoundParameters.from_json({key: value for key, value in LEAST.items() if key != name})


@pytest.mark.parametrize("task", ["caption", "checkbox"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reasons": True}, "--reasons"),
        ({"top_up": 1}, "Invalid top-up 1"),
        ({"design": "eccv-18"}, "--design"),
        ({"positives": "v1"}, "--positives"),
    ],
)
def test_what_a_type_of_task_does_not_use_is_refused(task, wrong, message):
    with pytest.raises(CounterpartError, match=message):
        PackParameters(task=task, **wrong)


@pytest.mark.parametrize("task", ["checkbox", "determinate"])
def test_a_design_that_is_named_is_refused_where_the_type_of_task_has_its_own(task):
    with pytest.raises(CounterpartError, match=f"{task} is always"):
        PackParameters(task=task, design="eccv-18")
    options = ["r", "--pool", "p", "--task", task, "--design", "eccv-18"]
    parsed = vars(Command().create_parser("manage.py", "pack").parse_args(options))
    with pytest.raises(CounterpartError, match="Leave --design out"):
        PackParameters.from_options(parsed)


def test_without_a_design_a_hit_has_18_pairs():
    assert PackParameters().composition == DESIGNS["eccv-18"]
    assert "--design" not in PackParameters().as_options()
