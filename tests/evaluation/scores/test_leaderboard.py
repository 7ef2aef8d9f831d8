"""The leaderboard: which model is best, which are as good, and how ranks change."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

from evaluation.models import Run, Score
from evaluation.scores.board_tables import csv_table, latex_table
from evaluation.scores.boards import Column, joined
from evaluation.scores.leaderboard import board_from
from evaluation.scores.moves import averages_of, history_of, ranks_of, values_of
from evaluation.scores.scoring import Scored, scored_from
from mitl.models import Direction
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


def model(name: str, i2t, t2i) -> Scored:
    return scored_from(name, {I2T: {"R@1": np.array(i2t, float)}, T2I: {"R@1": np.array(t2i, float)}}, {})


def test_an_average_weighs_both_directions_alike_whatever_their_queries():
    board = board_from([model("a", [1, 0], [1, 1, 1, 0])])
    (row,) = board.rows
    figure = row.cells[Column("average", "R@1")].figure
    assert (figure.value, figure.queries) == (0.625, 6)
    # By hand: half of the root of the sum of squared distances to the ends of both intervals.
    i2t, t2i = (row.cells[Column(part, "R@1")].figure for part in ("i2t", "t2i"))
    assert figure.low == pytest.approx(0.625 - np.hypot(0.5 - i2t.low, 0.75 - t2i.low) / 2)


def test_the_best_is_marked_and_what_does_not_differ_from_it():
    rng = np.random.default_rng(0)
    best = (rng.random(200) < 0.6).astype(float)
    near, far = best.copy(), np.zeros(200)
    near[:3] = 1 - near[:3]
    near[3] = 0
    cells = {row.model: row.cells[Column("i2t", "R@1")] for row in
             board_from([model(n, v, v) for n, v in (("far", far), ("near", near), ("best", best))]).rows}  # fmt: skip
    marks = {name: (cell.best, cell.tied) for name, cell in cells.items()}
    assert marks["far"] == (False, False)
    assert sorted([marks["best"], marks["near"]]) == [(False, True), (True, False)]


def test_models_of_equal_value_are_both_the_best():
    board = board_from([model("a", [1, 0], [1, 0]), model("b", [0, 1], [1, 0])])
    assert [row.cells[Column("i2t", "R@1")].best for row in board.rows] == [True, True]


def test_a_model_of_one_direction_has_no_average():
    one = scored_from("one", {T2I: {"R@1": np.array([1.0, 0.0])}}, {})
    board = board_from([model("both", [1, 0], [1, 1]), one])
    assert [(row.model, Column("average", "R@1") in row.cells) for row in board.rows] == [
        ("both", True),
        ("one", False),
    ]
    assert csv_table(board).splitlines()[2] == "one,,,50.0,counted,,like,0.95,t2i 2"


def test_equal_values_share_a_rank():
    values = {"a": {"R@1": 0.5, "mAP@R": 0.1}, "b": {"R@1": 0.5}, "c": {"R@1": 0.7, "mAP@R": 0.2}}
    assert ranks_of(values) == {"a": {"R@1": 2, "mAP@R": 2}, "b": {"R@1": 2}, "c": {"R@1": 1, "mAP@R": 1}}


def test_averages_are_those_of_the_board():
    assert values_of(averages_of(board_from([model("a", [1, 0], [1, 1])]))) == {"a": {"R@1": 0.75}}


def test_benchmarks_are_side_by_side_averages_first():
    board = joined((name, board_from([model("a_b", [1, 0], [1, 1])])) for name in ("eccv", "cxc"))
    assert list(map(str, board.columns)) == [
        "eccv average R@1", "cxc average R@1", "eccv i2t R@1", "cxc i2t R@1", "eccv t2i R@1", "cxc t2i R@1"
    ]  # fmt: skip
    assert latex_table(board).count(r"\begin{tabular}{lr}") == 6


def test_a_latex_table_has_a_caption_intervals_and_bold_for_the_best_of_several_models_alone():
    models = [model("a_b", [1, 0], [1, 1]), model("b", [1, 0], [0, 0]), model("c", [1, 0], [1, 1])]
    lines = latex_table(board_from(models, estimand="matches of v1")).splitlines()
    assert lines[2].startswith(
        r"\caption{Counted of the matches of v1, from 2 images and 2 captions. Percentages, with"
    )
    rows = [line for line in lines if line.startswith(("a", "b", "c"))]
    t2i = [line for line in lines if line.startswith(r"a\_b")][2]
    assert t2i == r"a\_b & \textbf{100.0} \\"
    assert [line.count("textbf") for line in rows] == [1, 1, 0, 1, 1, 1, 1, 1, 0]
    assert r" & {\scriptsize 100.0--100.0} \\" in lines
    assert not {"textbf", "Bold"} & set(re.findall(r"\w+", latex_table(board_from(models[:1]))))


def test_the_history_of_a_model_is_that_of_its_newest_run(db):
    zoo = make_collection(images=3)
    version = release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    for value, day in ((0.75, 2), (0.25, 1)):  # the newest was stored first
        run = Run.objects.create(
            collection=zoo, model="a", sha256=str(day), created_at=datetime(2026, 1, day, tzinfo=UTC)
        )
        for part in Direction:
            Score.objects.create(
                run=run, version=version, metric="R@1", direction=part, value=value, low=value - 0.1, high=value + 0.1,
                queries=3,
            )  # fmt: skip
    history = history_of(zoo, "R@1")
    assert values_of(history) == {"a": {"v1": 0.75}}
    assert history["a"]["v1"].low == pytest.approx(0.75 - np.hypot(0.1, 0.1) / 2)
