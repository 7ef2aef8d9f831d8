import numpy as np
import pytest

from core.errors import CounterpartError
from core.files.stored_files import StoredFile, local_copy
from core.models import Job
from corpus.models import Image
from mitl.annotators import load
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.jobs import train
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.trainer import TrainParameters, open_training, train_annotator
from tests.factories import make_collection, make_pool, make_retrieval, make_sample
from tests.mitl.pictured import COLOURS
from tests.mitl.plugged import plug_in


def make_eyes(name: str = "eyes", **options) -> Annotator:
    return add_annotator(name, kind="embedding", options={"image": "histogram", "dim": 8, **options})


def right_first(annotator: Annotator, collection) -> float:
    """The share of test captions whose first image is of the caption's colour."""
    model = load(annotator)
    images, captions = list(collection.images.gallery()), list(collection.captions.gallery())
    vectors = model.encode_images(plain_images(images))
    first = (model.encode_captions(plain_captions(captions, {})) @ vectors.T).argmax(1)
    colour = {image.pk: image.key.rstrip("0123456789") for image in images}
    return np.mean([colour[images[i].pk] == colour[c.image_id] for i, c in zip(first, captions, strict=True)])


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"image": "patches"}, {"text": "phrases"}])
def test_it_learns_what_words_look_like(colours, options):
    make_eyes(**options)
    assert right_first(train_annotator("eyes", collection=colours), colours) >= 5 / len(COLOURS)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_and_another_does_not(colours):
    checksums = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_eyes(name, image="patches")
        checksums.append(train_annotator(name, collection=colours, seed=seed).checksum)
    assert checksums[0] == checksums[1] != checksums[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "blind"}, "blind is of kind overlap"),
        ({"loss": "hope"}, "no loss 'hope'"),
        ({"name": "deep", "loss": "hope"}, "'hope'; choose one of max, sum, semi-hard, hal"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"seed": -1}, "Invalid seed -1"),
    ],
)
def test_what_cannot_be_trained_is_named(colours, arguments, message):
    make_eyes()
    add_annotator("blind", kind="overlap")
    add_annotator("deep", kind="vse")
    with pytest.raises(CounterpartError, match=message):
        train_annotator(**{"name": "eyes", "collection": colours, **arguments})
    assert Annotator.objects.get(name="eyes").checksum == ""


def test_images_without_pictures_are_counted(db):
    make_eyes()
    with pytest.raises(CounterpartError, match="6 of 6 training images"):
        train_annotator("eyes", collection=make_collection())


def test_an_annotator_whose_proposals_are_pooled_keeps_its_weights(colours):
    eyes = make_eyes()
    sample = make_sample(colours)
    sample.images.set(colours.images.gallery())
    sample.captions.set(colours.captions.gallery())
    make_pool(sample, [make_retrieval(eyes, sample)])
    with pytest.raises(CounterpartError, match=r"in 1 pool \(pool\)"):
        train_annotator("eyes", collection=colours)


def test_weights_that_were_brought_along_are_not_trained_over(colours, tmp_path):
    trained = train_annotator(make_eyes().name, collection=colours)
    (tmp_path / "eyes.npz").write_bytes(local_copy(StoredFile(trained.checkpoint, trained.checksum)).read_bytes())
    brought = add_annotator("brought", kind="embedding", options=trained.options, checkpoint=tmp_path / "eyes.npz")
    assert brought.checksum == trained.checksum
    with pytest.raises(CounterpartError, match="weights of brought"):
        train_annotator("brought", collection=colours)
    assert Annotator.objects.get(name="brought").checksum == brought.checksum


def test_the_annotator_s_figures_are_measured_on_the_validation_split(colours):
    make_eyes()
    Image.objects.filter(split="train", key__endswith="3").update(split="val")
    figures = train_annotator("eyes", collection=colours).trained_on
    assert figures["images"] == 18
    assert figures["i2t R@1"] > 0
    assert "rsum" not in train_annotator("eyes", collection=colours, validation="none").trained_on


@pytest.fixture
def little(colours, monkeypatch) -> Annotator:
    """An annotator that is fitted like the large ones."""
    plug_in(monkeypatch, little="little_kind")
    return add_annotator("little", kind="little")


def interrupted_in(epoch: int):
    """A progress that is interrupted in that epoch."""

    def progress(step: str, done: int, total: int | None) -> None:
        if step.startswith(f"epoch {epoch} "):
            raise KeyboardInterrupt

    return progress


def test_every_epoch_is_written_into_the_curve(colours, little):
    trained = train_annotator("little", collection=colours, validation="held-out")
    assert [epoch["number"] for epoch in trained.curve] == [1, 2, 3]
    assert {"i2t R@1", "t2i R@10", "rsum"} < set(trained.curve[0]["validation"])
    assert trained.architecture == {"parameters": "400"}


def test_an_interrupted_training_leaves_its_epochs_from_which_it_goes_on_to_the_same_weights(colours, little, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train_annotator("little", collection=colours, progress=interrupted_in(3))
    little.refresh_from_db()
    assert (len(little.curve), little.checkpoint, little.trained_on) == (2, "", {})
    begun_again = train_annotator("little", collection=colours)
    add_annotator("unbroken", kind="little")
    assert begun_again.checksum == train_annotator("unbroken", collection=colours).checksum
    assert [epoch["number"] for epoch in begun_again.curve] == [1, 2, 3]
    assert list((tmp_path / "training").glob("*")) == []


def test_another_training_does_not_go_on_from_it(colours, little):
    with pytest.raises(KeyboardInterrupt):
        train_annotator("little", collection=colours, progress=interrupted_in(3))
    seen = []
    train_annotator("little", collection=colours, seed=1, progress=lambda step, done, total: seen.append(step))
    assert seen[0] == "epoch 1 of 3"


def test_a_training_that_fails_leaves_the_curve_of_the_weights_that_are_there(colours, little):
    before = train_annotator("little", collection=colours)
    with pytest.raises(KeyboardInterrupt):
        train_annotator("little", collection=colours, seed=1, progress=interrupted_in(1))
    little.refresh_from_db()
    assert (little.curve, little.checksum) == (before.curve, before.checksum)


def test_two_that_train_the_same_annotator_do_not_mix_their_epochs(colours, little):
    def second_one_begins(step: str, done: int, total: int | None) -> None:
        if step.startswith("epoch 2 "):
            Annotator.objects.update(curve=[{"number": 1, "loss": 9.0, "seconds": 1.0, "validation": {}}])

    with pytest.raises(CounterpartError, match="training of little"):
        train_annotator("little", collection=colours, progress=second_one_begins)
    little.refresh_from_db()
    assert (little.curve[0]["loss"], little.checkpoint) == (9.0, "")


def test_a_job_trains_it(colours, little, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = open_training(TrainParameters(name="little", collection="colours", seed=3))
    job.refresh_from_db()
    assert (job.title, job.state, job.message) == ("Train little on colours", "done", "little is trained.")
    assert Annotator.objects.get().trained_on["seed"] == 3


def test_a_cancelled_job_keeps_its_epochs_for_the_next(colours, little, monkeypatch):
    job = open_training(TrainParameters(name="little", collection="colours"))

    def cancel_after_one(curve, epoch):
        Job.objects.update(cancel_requested=True)

    with monkeypatch.context() as patched:
        patched.setattr("mitl.training.trainer._Curve.add", cancel_after_one)
        train(str(job.pk))
    job.refresh_from_db()
    assert job.state == "cancelled"
    seen = []
    train_annotator("little", collection=colours, progress=lambda step, done, total: seen.append(step))
    assert [step for step in seen if step.startswith("epoch")][0] == "epoch 2 of 3"
