import pytest

from core.models import Job
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.trainer import train_annotator
from tests.mitl.pictured import make_coloured_collection

JSON = {"Accept": "application/json"}
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
    answer = member.get("/annotators/eyes/training/", headers=JSON).json()
    assert (answer["live"], "Epoch 1 of 2" in answer["html"]) == (True, True)
    assert "data-live" in member.get("/annotators/eyes/training/").text


def test_a_finished_training_is_not_live(member, db):
    add_annotator("quick", kind="embedding", options={"image": "histogram", "dim": 4})
    trained = train_annotator("quick", collection=make_coloured_collection())
    Annotator.objects.update(curve=[EPOCH], trained_on=trained.trained_on | {"loss_last": 0.5})
    assert not member.get("/annotators/quick/training/", headers=JSON).json()["live"]
    assert "data-live" not in member.get("/annotators/quick/training/").text


def test_starting_a_training_opens_a_job_with_what_was_filled_in(researcher, eyes):
    collection = make_coloured_collection()
    answer = researcher.post("/annotators/eyes/train/", filled_in(collection))
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
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
    assert (answer.status_code, Job.objects.count()) == (409, 0)
    assert "/annotators/eyes/train/" not in researcher.get("/annotators/eyes/training/").text
