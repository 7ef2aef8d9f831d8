import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from annotation.models import Worker
from console.charts.plots import chart_path, measure_chart
from core.models import Job
from core.progress import silent
from hits.models import Round
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.trainer import train_annotator
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.factories import make_annotator
from tests.hits.pools import pack
from tests.mitl.pictured import make_coloured_collection

EPOCH = {"number": 1, "loss": 0.5, "seconds": 2.0, "validation": {"i2t R@1": 10.0, "rsum": 60.0}}


@pytest.fixture
def eyes(db) -> Annotator:
    return add_annotator("eyes", kind="vse", options={"epochs": 2})


def filled_in(made, **changed):
    return {
        "collection": made.name,
        "matches": "original",
        "loss": "max",
        "validation": "none",
        "seed": 3,
        **changed,
    }


def test_a_training_under_way_is_live(member, eyes):
    Annotator.objects.update(curve=[EPOCH])  # half-way through
    answer = member.get("/annotators/eyes/training/").json()
    assert (answer["live"], "Epoch 1 of 2" in answer["html"]) == (True, True)
    assert "/annotators/eyes/training/" in member.get("/annotators/eyes/").text


def test_a_finished_training_is_not_live(member, db):
    add_annotator("quick", kind="embedding", options={"image": "histogram", "dim": 4})
    trained = train_annotator("quick", collection=make_coloured_collection())
    Annotator.objects.update(curve=[EPOCH], trained_on=trained.trained_on | {"loss_last": 0.5})
    assert not member.get("/annotators/quick/training/").json()["live"]
    assert "data-live" not in member.get("/annotators/quick/").text


def test_starting_a_training_opens_a_job_with_what_was_filled_in(researcher, eyes):
    collection = make_coloured_collection()
    answer = researcher.post("/annotators/eyes/train/", filled_in(collection))
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    assert job.params == {
        "name": "eyes",
        "collection": "colours",
        "matches": "original",
        "loss": "max",
        "seed": 3,
        "validation": "none",
        "gallery": False,
        "device": "cpu",
    }


@pytest.mark.parametrize("changed", [{"loss": "magic"}, {"validation": "tarot"}])
def test_invalid_training_settings_open_no_job(researcher, eyes, changed):
    answer = researcher.post("/annotators/eyes/train/", filled_in(make_coloured_collection(), **changed))
    assert (answer.status_code, Job.objects.count()) == (422, 0)


def test_imported_weights_are_not_trained_over(researcher, eyes):
    Annotator.objects.update(checkpoint="a.npz", checksum="1")
    answer = researcher.post("/annotators/eyes/train/", filled_in(make_coloured_collection()))
    assert (answer.status_code, Job.objects.count()) == (422, 0)
    assert "/annotators/eyes/train/" not in researcher.get("/annotators/eyes/").text


# An annotator's page shows the calibration of its newest judged round, as the job of the chart measured it


CHART = "/charts/round/audit/calibration/"


@pytest.fixture(scope="module")
def pool(lasting):
    return known_pool()


@pytest.fixture(scope="module")
def audit(pool):
    return judge_all(published(pack("audit", pool, design=SMALL, judge="audit", audit_share=0.5, seed=4)))


@pytest.fixture(scope="module")
def measured(audit) -> Round:
    """The audit, whose chart a job has made."""
    measure_chart(audit, "calibration", "", progress=silent)
    return audit


def test_the_page_shows_scores_of_the_annotator_and_of_all_and_the_diagram(researcher, measured, tmp_path):
    page = researcher.get("/annotators/a/")
    rows = page.context["calibration"].rows
    assert [(row["label"], row["annotator"]) for row in rows] == [
        (direction, who) for direction in ("image → captions", "caption → images") for who in ("all annotators", "a")
    ]
    assert "<svg" in page.text
    assert CHART in page.text
    call_command("analyse", "calibration", "audit", csv=tmp_path / "table.csv")
    assert researcher.get("/charts/round/audit/calibration.csv").text == (tmp_path / "table.csv").read_text("utf-8")


def test_the_page_starts_no_job_and_leads_to_the_chart(researcher, audit):
    default_storage.delete(chart_path(audit, "calibration", ""))
    page = researcher.get("/annotators/a/")
    assert (page.context["calibration"].chart, f'href="{CHART}"' in page.text) == (None, True)
    assert not Job.objects.exists()


def test_the_newest_judged_round_counts_unless_it_asks_first_hits_alone(researcher, pool, audit):
    make_annotator("outside")
    assert researcher.get("/annotators/outside/").context["calibration"] is None
    pack("draft", pool, design=SMALL)
    judge_all(published(pack("first", pool, design=SMALL, judge="first-hits")))
    assert researcher.get("/annotators/b/").context["calibration"].round == audit
    newer = judge_all(published(pack("newer", pool, design=SMALL, seed=4)))
    assert researcher.get("/annotators/b/").context["calibration"].round == newer


def test_the_page_says_why_a_round_has_no_calibration(researcher, charted, pool):
    made = published(pack("all", pool, design=SMALL, seed=4))
    judge_all(made).hits.last().assignments.update(state="flagged")
    charted("/charts/round/all/calibration/")
    assert researcher.get("/annotators/a/").context["calibration"].chart.trouble


def test_figures_of_older_data_and_of_programs_are_marked(researcher, measured):
    calibration = researcher.get("/annotators/a/").context["calibration"]
    assert (calibration.simulated, calibration.chart.is_current) == (False, True)
    Worker.objects.update(simulated=True)
    measured.hits.first().assignments.update(state="flagged")
    page = researcher.get("/annotators/a/")
    calibration = page.context["calibration"]
    assert (calibration.simulated, calibration.chart.is_current, 'role="note"' in page.text) == (True, False, True)
