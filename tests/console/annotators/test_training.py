import pytest

from core.models import Job
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.trainer import train_annotator
from tests.mitl.pictured import make_coloured_collection

EPOCH = {"number": 1, "loss": 0.5, "seconds": 2.0, "validation": {"i2t R@1": 10.0, "rsum": 60.0}}


@pytest.fixture
def eyes(db) -> Annotator:
    return add_annotator("eyes", kind="vse", options={"epochs": 2})


@pytest.fixture
def learning(eyes) -> Annotator:
    """The annotator half-way through its training."""
    Annotator.objects.update(curve=[EPOCH])
    return eyes


def filled_in(made, **changed):
    return {
        "collection": made.name,
        "matches": "original",
        "loss": "max",
        "validation": "none",
        "seed": 3,
        **changed,
    }


def test_a_training_under_way_tells_its_last_epoch_and_goes_on_being_asked(member, learning):
    answer = member.get("/annotators/eyes/training/").json()
    assert answer["live"]
    assert "Epoch 1 of 2 is done." in answer["html"]
    assert 'data-live="/annotators/eyes/training/"' in member.get("/annotators/eyes/").content.decode()


def test_a_finished_training_is_not_asked_any_more(member, db):
    add_annotator("quick", kind="embedding", options={"image": "histogram", "dim": 4})
    trained = train_annotator("quick", collection=make_coloured_collection())
    Annotator.objects.update(curve=[EPOCH], trained_on=trained.trained_on | {"loss_last": 0.5})
    assert not member.get("/annotators/quick/training/").json()["live"]
    assert "data-live" not in member.get("/annotators/quick/").content.decode()


def test_the_curve_is_a_picture_of_loss_and_rsum(member, learning):
    answer = member.get("/annotators/eyes/curve.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert b"rsum on the validation split" in answer.content


def test_an_annotator_that_learned_nothing_says_how_to_train_it(member, eyes):
    assert "train_annotator eyes --collection COLLECTION" in member.get("/annotators/eyes/").content.decode()


def test_an_annotator_that_learns_nothing_speaks_of_no_training(member, db):
    add_annotator("words", kind="overlap")
    assert "Training" not in member.get("/annotators/words/").content.decode()


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


@pytest.mark.parametrize("changed", [{"loss": "magic"}, {"seed": -1}, {"collection": 99}, {"validation": "tarot"}])
def test_what_cannot_be_trained_opens_no_job(researcher, eyes, changed):
    answer = researcher.post("/annotators/eyes/train/", filled_in(make_coloured_collection(), **changed))
    assert (answer.status_code, Job.objects.count()) == (422, 0)


def test_weights_that_others_brought_are_not_trained_over(researcher, eyes):
    Annotator.objects.update(checkpoint="a.npz", checksum="1")
    answer = researcher.post("/annotators/eyes/train/", filled_in(make_coloured_collection()))
    assert "were imported, and training would replace them" in answer.content.decode()
    assert 'href="/annotators/eyes/train/"' not in researcher.get("/annotators/eyes/").content.decode()


def test_the_source_and_the_licence_of_weights_are_told(member, eyes):
    Annotator.objects.update(checkpoint="a.npz", checksum="1", source="the <authors>", licence="MIT")
    page = member.get("/annotators/eyes/").content.decode()
    assert "the &lt;authors&gt;" in page
    assert "<dd>MIT</dd>" in page
