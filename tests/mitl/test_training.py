import numpy as np
import pytest

from corpus.artefacts import Artefact, local_copy
from corpus.models import Image, Match
from journal.errors import CounterpartError
from journal.models import Event
from mitl.annotators import load
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training import train_annotator
from tests.factories import make_collection, make_pool, make_retrieval, make_sample
from tests.mitl.pictured import COLOURS, make_coloured_collection


@pytest.fixture
def colours(db):
    return make_coloured_collection()


def machine(name: str = "eyes", **options) -> Annotator:
    return add_annotator(name, kind="embedding", options={"image": "histogram", "dim": 8, "epochs": 3, **options})


def right_first(annotator: Annotator, collection) -> float:
    """The share of test captions whose first image is of the caption's colour."""
    model = load(annotator)
    images, captions = list(collection.images.gallery()), list(collection.captions.gallery())
    first = (model.encode_captions(captions) @ model.encode_images(images).T).argmax(1)
    colour = {image.pk: image.key.rstrip("0123456789") for image in images}
    return np.mean([colour[images[i].pk] == colour[c.image_id] for i, c in zip(first, captions, strict=True)])


@pytest.mark.parametrize(
    ("options", "loss"),
    [({}, "sum"), ({}, "max"), ({}, "semi-hard"), ({"image": "patches"}, "sum"), ({"text": "phrases"}, "sum")],
)
def test_it_learns_what_words_look_like(colours, options, loss):
    machine(**options)
    assert right_first(train_annotator("eyes", collection=colours, loss=loss), colours) >= 5 / len(COLOURS)


def test_the_same_seed_gives_the_same_weights_and_another_does_not(colours):
    checksums = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        machine(name, image="patches")
        checksums.append(train_annotator(name, collection=colours, seed=seed).checksum)
    assert checksums[0] == checksums[1] != checksums[2]


def test_what_it_was_trained_on_is_written_down(colours):
    machine()
    trained = train_annotator("eyes", collection=colours, seed=7).trained_on
    assert (trained["collection"], trained["seed"], trained["images"], trained["pairs"]) == ("colours", 7, 24, 48)


def test_training_the_same_again_changes_nothing(colours):
    machine()
    train_annotator("eyes", collection=colours)
    train_annotator("eyes", collection=colours)
    assert Event.objects.filter(verb="trained").count() == 1


def test_only_the_training_split_is_read(colours):
    machine()
    Image.objects.filter(split="test").update(file="")
    assert train_annotator("eyes", collection=colours).trained_on["images"] == 24


def test_a_collection_without_a_training_split_is_read_whole(colours):
    machine()
    Image.objects.update(split="")
    assert train_annotator("eyes", collection=colours).trained_on["images"] == 30


def test_of_a_source_with_levels_only_the_positive_ones_teach(colours):
    machine()
    caption = colours.captions.training().first()
    for grade, image in zip((1, 2, 3), colours.images.training()[:3], strict=True):
        Match.objects.create(collection=colours, image=image, caption=caption, source="truth", grade=grade)
    Match.objects.create(
        collection=colours, image=image, caption=colours.captions.training().last(), source="truth", grade=1
    )
    assert train_annotator("eyes", collection=colours, matches="truth").trained_on["pairs"] == 3


def test_weights_trained_elsewhere_can_be_brought_along(colours, tmp_path):
    machine()
    trained = train_annotator("eyes", collection=colours)
    (tmp_path / "eyes.npz").write_bytes(local_copy(Artefact(trained.checkpoint, trained.checksum)).read_bytes())
    brought = add_annotator("brought", kind="embedding", options=trained.options, checkpoint=tmp_path / "eyes.npz")
    assert brought.checksum == trained.checksum
    assert right_first(brought, colours) == right_first(trained, colours)


def test_weights_that_do_not_fit_are_refused(db, tmp_path):
    np.savez(tmp_path / "eyes.npz", image_map=np.ones((2, 2), dtype=np.float32))
    with pytest.raises(CounterpartError, match="does not hold the weights of this embedding: it lacks image_mean"):
        add_annotator("brought", kind="embedding", checkpoint=tmp_path / "eyes.npz")


def test_a_machine_without_weights_says_so(db):
    with pytest.raises(CounterpartError, match="not trained yet; run: manage.py train_annotator eyes"):
        load(machine())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "nobody"}, "1 annotators are unknown: nobody; there are blind, eyes"),
        ({"name": "blind"}, "blind is of kind overlap, which learns nothing"),
        ({"loss": "hope"}, "no loss 'hope'; choose one of sum, max, semi-hard"),
        ({"matches": "cxc"}, "no matches from 'cxc'"),
        ({"seed": -1}, "seed is 0 or more, not -1"),
    ],
)
def test_what_cannot_be_trained_is_named(colours, arguments, message):
    machine()
    add_annotator("blind", kind="overlap")
    with pytest.raises(CounterpartError, match=message):
        train_annotator(**{"name": "eyes", "collection": colours, **arguments})
    assert Annotator.objects.get(name="eyes").checksum == ""


def test_images_without_pictures_are_counted(db):
    machine()
    with pytest.raises(CounterpartError, match="6 of 6 training images lack a picture file: 0, 1, 2, 3, 4 and 1 more"):
        train_annotator("eyes", collection=make_collection())


def test_a_machine_whose_proposals_are_pooled_keeps_its_weights(colours):
    annotator = machine()
    sample = make_sample(colours)
    sample.images.set(colours.images.gallery())
    sample.captions.set(colours.captions.gallery())
    make_pool(sample, [make_retrieval(annotator, sample)])
    with pytest.raises(CounterpartError, match="Proposals of eyes stand in 1 pools: pool"):
        train_annotator("eyes", collection=colours)
