"""Exports of a version whose round asked a part of its pool: why each pair was asked, and with what probability."""

import csv

import pyarrow.parquet
import pytest

from dataset.exports import export_version
from dataset.releases.verification import verify_version
from tests.dataset.releasing import release
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return known_pool()


def released(pool, **parameters):
    return release(judge_all(published(pack("round-1", pool, design=SMALL, **parameters))))


def rows_of(version, out, format="judgments-long"):
    (path,) = export_version(version, format=format, out=out)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_judgment_of_an_audit_has_its_reason_and_probability_in_either_form(pool, tmp_path):
    version = released(pool, judge="audit", audit_share=0.25)
    assert version.manifest["rounds"][0]["judge"] == {"judge": "audit", "share": 0.25, "greedy": False, "policy": 1}
    rows = rows_of(version, tmp_path)
    candidates = [row for row in rows if not row["control"]]
    assert {row["reason"] for row in candidates} == {"audit"}
    # 4 of 14 images and 4 of 14 captions are drawn, each for itself; every image and caption is a query.
    assert {round(float(row["inclusion"]), 9) for row in candidates} == {round(1 - (10 / 14) ** 2, 9)}
    assert {(row["reason"], row["inclusion"]) for row in rows if row["control"]} == {("", "")}
    export_version(version, format="parquet", out=tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "v1_judgments.parquet")
    assert {one for one in table["inclusion"].to_pylist() if one} == {float(row["inclusion"]) for row in candidates}
    assert [one or "" for one in table["reason"].to_pylist()] == [row["reason"] for row in rows]
    assert [check.problems for check in verify_version(version)] == [[]] * 5


def test_a_pair_of_one_query_has_the_chance_of_that_query_alone(tmp_path):
    pool = known_pool(images=24)
    dropped = set(pool.sample.captions.order_by("pk")[:4].values_list("key", flat=True))
    pool.sample.captions.remove(*pool.sample.captions.filter(key__in=dropped))
    rows = rows_of(released(pool, judge="audit", audit_share=0.5), tmp_path)
    chances = {row["caption"] in dropped: float(row["inclusion"]) for row in rows if not row["control"]}
    assert chances == {True: pytest.approx(0.5), False: pytest.approx(0.75)}


def test_first_hits_are_certain_to_be_asked(pool, tmp_path):
    rows = rows_of(released(pool, judge="first-hits"), tmp_path)
    found = {(row["reason"], row["inclusion"]) for row in rows if not row["control"]}
    assert {(reason, float(chance)) for reason, chance in found} == {("first-hits", 1.0)}


def test_a_version_of_all_pairs_has_no_such_columns(pool, tmp_path):
    assert not {"reason", "inclusion"} & set(rows_of(released(pool), tmp_path)[0])
