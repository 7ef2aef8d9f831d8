"""CLIP and SigLIP as annotators: they embed, learn, and are stored."""

import numpy as np
import pytest
import torch

from core.errors import CounterpartError
from corpus.models import Image
from corpus.pictures import open_picture
from mitl.annotators import kind_of, load, module_of
from mitl.annotators.clip.annotator import FAMILY
from mitl.nn.families import fresh_model
from mitl.nn.preparation import TrainingViews
from mitl.nn.towers import TwoTowers
from mitl.registration import add_annotator
from mitl.training.trainer import train_annotator
from tests.mitl.annotators.learned import annotator_of, colours_found, gallery, settings_of, trained_arrays
from tests.mitl.annotators.transformers import TINY
from tests.mitl.nn.pretrained import letters, write_folder
from tests.mitl.pictured import COLOURS, make_coloured_collection


@pytest.fixture
def colours(db):
    return make_coloured_collection(train_each=2)


@pytest.fixture
def untrained(colours):
    torch.manual_seed(0)
    settings = settings_of("clip", **TINY["clip"])
    return fresh_model(FAMILY, settings, [caption.text for caption in colours.captions.all()], "cpu")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "loss"), [("clip", "contrastive"), ("siglip", "sigmoid")])
def test_it_learns_what_words_look_like(colours, kind, loss):
    arrays = trained_arrays(kind, colours, loss=loss, **TINY[kind] | {"epochs": 8})
    annotator = module_of(kind).open_annotator(annotator_of(kind, arrays, **TINY[kind]), "cpu")
    assert colours_found(annotator, colours) >= 4 / len(COLOURS)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [*kind_of("clip").losses, "sigmoid"])
def test_every_loss_it_names_falls(colours, loss):
    kind = "siglip" if loss == "sigmoid" else "clip"
    add_annotator("eyes", kind=kind, options=TINY[kind] | {"epochs": 2})
    trained = train_annotator("eyes", collection=colours, loss=loss).trained_on
    assert trained["loss_last"] < trained["loss_first"]


def test_training_again_gives_the_same_bytes(colours):
    weights = [trained_arrays("clip", colours, loss="contrastive", **TINY["clip"] | {"epochs": 1}) for _ in range(2)]
    assert all(array.tobytes() == weights[1][name].tobytes() for name, array in weights[0].items())


def test_embeddings_are_unit_vectors_whatever_goes_along(colours, untrained):
    annotator = TwoTowers(untrained)
    images, captions = gallery(colours)
    rows, columns = annotator.encode_images(images), annotator.encode_captions(captions)
    assert (rows.dtype, rows.shape, columns.shape) == (np.float32, (len(images), 16), (len(captions), 16))
    np.testing.assert_allclose(np.linalg.norm(np.concatenate([rows, columns]), axis=1), 1, atol=1e-6)
    alone = np.concatenate([annotator.encode_images([image]) for image in images])
    np.testing.assert_allclose(alone, rows, atol=1e-6)
    alone = np.concatenate([annotator.encode_captions([caption]) for caption in captions])
    np.testing.assert_allclose(alone, columns, atol=1e-6)


def test_captions_of_unlike_length_come_back_in_their_order(colours, untrained):
    captions = list(colours.captions.all())[:3]
    for caption, text in zip(captions, ["all of it is red and white and blue", "red", "a red square"], strict=True):
        caption.text = text
    annotator = TwoTowers(untrained)
    together = annotator.encode_captions(captions)
    for row, caption in zip(together, captions, strict=True):
        np.testing.assert_allclose(row, annotator.encode_captions([caption])[0], atol=1e-6)


def test_escapes_and_capitals_make_no_difference(colours, untrained):
    first, second = list(colours.captions.all())[:2]
    first.text, second.text = "a red &amp;amp; white square", "A RED & WHITE  square "
    embedded = TwoTowers(untrained).encode_captions([first, second])
    np.testing.assert_array_equal(embedded[0], embedded[1])


def test_a_published_folder_embeds_as_transformers_loads_it(colours, tmp_path):
    from transformers import CLIPModel  # takes seconds

    configuration = FAMILY.configure(TINY["clip"], 514)
    folder = write_folder(tmp_path / "folder", FAMILY, configuration, letters())
    annotator = load(add_annotator("published", kind="clip", checkpoint=folder))
    theirs = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
    captions = gallery(colours)[1]
    rows = [letters().encode(caption.text).ids[:9] for caption in captions]
    rows = [[*row, 513] if row[-1] != 513 else row for row in rows]
    with torch.inference_mode():
        expected = [theirs.get_text_features(torch.tensor([row])).pooler_output[0] for row in rows]
    expected = torch.nn.functional.normalize(torch.stack(expected), dim=1)
    np.testing.assert_allclose(annotator.encode_captions(captions), expected, atol=1e-5)


def test_the_sizes_of_a_published_folder_are_written_down(db, tmp_path):
    folder = write_folder(tmp_path / "folder", FAMILY, FAMILY.configure(TINY["clip"], 514), letters())
    annotator = add_annotator("published", kind="clip", checkpoint=folder)
    assert {name: annotator.options[name] for name in ("picture", "image_width", "context", "pieces")} == {
        **{"picture": 16, "image_width": 32},
        **{"context": 10, "pieces": 514},
    }
    assert annotator.architecture["picture tower"] == "1 layers, width 32, 2 heads, patches of 8 x 8 in 16 x 16"
    with pytest.raises(CounterpartError, match="contradicts 1 option: picture is 16, not 32"):
        add_annotator("other", kind="clip", checkpoint=folder, options={"picture": "32"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_heads": 3}, "Invalid sizes for CLIPModel: .*32.*3"),
        ({"patch": 32}, "A picture of 16 pixels is smaller than a patch of 32"),
        ({"context": 2}, "The option context is 2"),
        ({"tokeniser": "/nowhere/vocab.txt"}, "/nowhere/vocab.txt cannot be read as a tokeniser"),
    ],
)
def test_sizes_that_make_no_network_are_refused_before_training(colours, options, message):
    add_annotator("eyes", kind="clip", options=TINY["clip"] | options)
    with pytest.raises(CounterpartError, match=message) as refused:
        train_annotator("eyes", collection=colours, loss="contrastive")
    assert "\n" not in str(refused.value)


def test_a_training_view_is_drawn_by_the_seed_and_the_picture_is_read_once(colours, untrained):
    images = list(colours.images.all()[:3])
    pictures = TrainingViews(untrained.preparation, 0.5)
    views = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        views.append(np.stack(pictures.of(images)))
        Image.objects.all().update(file="")
        images = list(colours.images.all()[:3])
    assert views[0].shape == (3, 16, 16, 3)
    np.testing.assert_array_equal(views[0], views[1])


def test_whole_views_are_the_prepared_pictures(colours, untrained):
    images = list(colours.images.all()[:2])
    expected = [untrained.preparation.pixels(open_picture(image)) for image in images]
    np.testing.assert_array_equal(TrainingViews(untrained.preparation, 1.0, limit=0).of(images), expected)
