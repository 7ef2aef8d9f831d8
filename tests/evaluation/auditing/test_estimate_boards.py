"""Boards of estimates: of an unfinished audit too, ordered by value, with neighbours compared by their difference."""

import json

import pytest

from counterpart_statistics.auditing.model_scores import NOT_ASKED, ModelDifference, ModelEstimate
from counterpart_statistics.estimation import METRICS, Estimate
from evaluation.auditing.estimate_boards import audits_of, boards_of
from evaluation.auditing.round_estimates import EstimateParameters, RoundEstimates, estimate_round
from evaluation.scores.boards import Column
from evaluation.scores.runs import register_file
from mitl.models import Direction
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import AUDIT, SMALL, half_judged, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

ALL = EstimateParameters(metric=METRICS)
I2T = Direction.IMAGE_TO_CAPTION


def test_an_unfinished_audit_has_a_board_with_annotators_and_registered_runs(tmp_path):
    pool = known_pool()
    run = register_in_order(pool.collection, tmp_path)
    audit = half_judged(pool)
    boards = boards_of(audit, estimate_round(audit, ALL), "R@1")
    assert [one.direction for one in boards] == list(Direction)
    for one in boards:
        assert {row.model: row.run for row in one.board.rows} == {"a": None, "b": None, "c": None, "outsider": run}
        assert one.board.metrics == ["R@1", "mAP@R", "R-Precision", "graded mAP@R"]
        assert {cell.kind for row in one.board.rows for cell in row.cells.values()} == {"estimated"}
        values = [row.cells[one.board.columns[0]].figure.value for row in one.board.rows]
        assert values == sorted(values, reverse=True)
        (notes,) = (row.notes for row in one.board.rows if row.model == "outsider")
        assert notes == (f"outsider: {NOT_ASKED}",)
    (source,) = boards[0].board.sources
    assert source.startswith("Estimated of the pool of audit, from ")
    assert any("verdicts" in note for one in boards for note in one.notes)


def made(model: str, value: float, half: float) -> ModelEstimate:
    estimate = Estimate(value, value - half, value + half, half / 2, 1.0, 70, "pool of audit")
    return ModelEstimate(model, "mAP@R", I2T, estimate, counted=False, judged=0.3, missing=0, own_asked=True)


def step(better: str, worse: str, value: float, half: float) -> ModelDifference:
    estimate = Estimate(value, value - half, value + half, half / 2, 1.0, 70, "pool of audit")
    return ModelDifference(better, worse, "mAP@R", I2T, estimate)


def test_the_interval_of_a_difference_says_whether_an_order_is_open_and_the_models_own_do_not():
    pool = known_pool()
    audit = published(pack("audit", pool, **AUDIT))
    # a and b overlap and their order is known; b and c do not overlap and their order is open.
    estimates = RoundEstimates(
        (made("a", 0.6, 0.1), made("b", 0.55, 0.1), made("c", 0.3, 0.1)),
        (step("a", "b", 0.05, 0.01), step("b", "c", 0.25, 0.3)),
    )
    (one,) = boards_of(audit, estimates, "mAP@R")
    column = Column("i2t", "mAP@R")
    assert [(row.model, row.cells[column].is_open) for row in one.board.rows] == [
        ("a", False), ("b", True), ("c", False)
    ]  # fmt: skip
    assert [row.cells[column].best for row in one.board.rows] == [True, False, False]
    assert [one.is_open for one in one.differences] == [False, True]


def test_of_runs_of_one_name_the_newest_is_estimated(tmp_path):
    pool = known_pool()
    register_in_order(pool.collection, tmp_path)
    (tmp_path / "outsider.json").write_text(
        json.dumps({"i2t": {image.key: ["0"] for image in pool.collection.images.all()}})
    )
    newest = register_file(pool.collection, tmp_path / "outsider.json")
    audit = published(pack("audit", pool, **AUDIT))
    (one,) = boards_of(audit, RoundEstimates((made("outsider", 0.5, 0.1),), ()), "mAP@R")
    assert [row.run for row in one.board.rows] == [newest]
    assert [row.model for row in one.of_run(newest).board.rows] == ["outsider"]


def test_only_published_audits_of_the_collection_have_a_board():
    pool = known_pool()
    audit = published(pack("audit", pool, **AUDIT))
    pack("draft", pool, **AUDIT)
    published(pack("all", pool, design=SMALL))
    assert audits_of(pool.collection) == [audit]
