"""An annotator's page shows the calibration of its newest judged round, as the job of the chart measured it."""

import pytest
from django.core.management import call_command

from annotation.models import Worker
from console.charts import measured_charts
from core.models import Job
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.factories import make_annotator
from tests.hits.pools import pack

CHART = "/charts/round/audit/calibration/"


@pytest.fixture
def pool(db):
    return known_pool()


@pytest.fixture
def audit(pool):
    return judge_all(published(pack("audit", pool, design=SMALL, judge="audit", audit_share=0.5, seed=4)))


def test_the_page_shows_scores_of_the_annotator_and_of_all_and_the_diagram(researcher, charted, audit, tmp_path):
    charted(CHART)
    page = researcher.get("/annotators/a/")
    rows = page.context["calibration"].rows
    assert [(row["label"], row["annotator"]) for row in rows] == [
        (direction, who) for direction in ("image → captions", "caption → images") for who in ("all annotators", "a")
    ]
    assert '<svg role="img" aria-label="Calibration: ' in page.text
    assert CHART in page.text
    call_command("analyse", "calibration", "audit", csv=tmp_path / "table.csv")
    assert researcher.get("/charts/round/audit/calibration.csv").text == (tmp_path / "table.csv").read_text("utf-8")


def test_the_page_computes_and_starts_nothing(researcher, audit, monkeypatch):
    def no_chart(*_: object, **__: object) -> None:
        raise AssertionError("A request computes a chart.")

    monkeypatch.setattr(measured_charts, "analyse", no_chart)
    page = researcher.get("/annotators/a/").text
    assert "Not measured yet in audit" in page
    assert f'href="{CHART}"' in page
    assert not Job.objects.exists()


def test_an_annotator_of_no_judged_round_is_told_how_to_get_one(researcher, pool):
    make_annotator("outside")
    pack("draft", pool, design=SMALL)
    for name in ("a", "outside"):
        page = researcher.get(f"/annotators/{name}/").text
        assert "No round with pairs of this annotator is judged yet" in page
        assert "pack ROUND --pool POOL --judge audit" in page


def test_the_newest_judged_round_counts_unless_it_asks_first_hits_alone(researcher, pool, audit):
    judge_all(published(pack("first", pool, design=SMALL, judge="first-hits")))
    pack("draft", pool, design=SMALL)
    assert researcher.get("/annotators/b/").context["calibration"].round == audit
    newer = judge_all(published(pack("newer", pool, design=SMALL, seed=4)))
    assert researcher.get("/annotators/b/").context["calibration"].round == newer


def test_where_nothing_can_be_compared_the_page_says_why(researcher, charted, pool):
    made = published(pack("all", pool, design=SMALL, seed=4))
    judge_all(made).hits.last().assignments.update(state="flagged")
    charted("/charts/round/all/calibration/")
    assert "asks all pairs" in researcher.get("/annotators/a/").text


def test_figures_of_older_data_and_of_programs_say_so(researcher, charted, audit):
    charted(CHART)
    assert "Programs gave" not in researcher.get("/annotators/a/").text
    Worker.objects.update(simulated=True)
    audit.hits.first().assignments.update(state="flagged")
    page = researcher.get("/annotators/a/").text
    assert "Programs gave some or all of the answers behind these figures" in page
    assert "The data changed since" in page
