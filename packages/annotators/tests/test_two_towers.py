"""CLIP and SigLIP: they embed, and learn."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from coloured import COLOURS, colours_found, gallery, opened, trained_arrays, training_set
from counterpart_annotators.kinds.clip.annotator import FAMILY
from counterpart_annotators.nn.families import fresh_model
from counterpart_annotators.nn.preparation import TrainingViews
from counterpart_annotators.nn.towers import TwoTowers
from counterpart_metrics.errors import CounterpartError
from pretrained import letters, module_of, settings_of, write_folder
from tiny_transformers import TINY


@pytest.fixture
def untrained():
    torch.manual_seed(0)
    texts = [caption.text for caption in training_set().captions]
    return fresh_model(FAMILY, settings_of("clip", **TINY["clip"]), texts, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "loss"), [("clip", "contrastive"), ("siglip", "sigmoid")])
def test_it_learns_what_words_look_like(kind, loss):
    arrays = trained_arrays(kind, loss=loss, each=2, **TINY[kind] | {"epochs": 8})
    assert colours_found(opened(kind, arrays, **TINY[kind])) >= 4 / len(COLOURS)


def test_embeddings_are_unit_vectors_whatever_goes_along(untrained):
    annotator = TwoTowers(untrained)
    images, captions = gallery()
    rows, columns = annotator.encode_images(images), annotator.encode_captions(captions)
    assert (rows.dtype, rows.shape, columns.shape) == (np.float32, (len(images), 16), (len(captions), 16))
    np.testing.assert_allclose(np.linalg.norm(np.concatenate([rows, columns]), axis=1), 1, atol=1e-6)
    alone = np.concatenate([annotator.encode_images([image]) for image in images])
    np.testing.assert_allclose(alone, rows, atol=1e-6)
    alone = np.concatenate([annotator.encode_captions([caption]) for caption in captions])
    np.testing.assert_allclose(alone, columns, atol=1e-6)


def captions_of(*texts: str):
    return [replace(caption, text=text) for caption, text in zip(gallery()[1], texts, strict=False)]


def test_escapes_and_capitals_make_no_difference(untrained):
    captions = captions_of("a red &amp;amp; white square", "A RED & WHITE  square ")
    embedded = TwoTowers(untrained).encode_captions(captions)
    np.testing.assert_array_equal(embedded[0], embedded[1])


def test_a_published_folder_embeds_as_transformers_loads_it(tmp_path):
    from transformers import CLIPModel  # takes seconds

    folder = write_folder(tmp_path / "folder", FAMILY, FAMILY.configure(TINY["clip"], 514), letters())
    adopted = module_of("clip").adopt(folder, settings_of("clip"))
    assert {name: adopted.settings[name] for name in ("picture", "image_width", "context", "pieces")} == {
        **{"picture": 16, "image_width": 32},
        **{"context": 10, "pieces": 514},
    }
    theirs = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
    captions = gallery()[1]
    rows = [letters().encode(caption.text).ids[:9] for caption in captions]
    rows = [[*row, 513] if row[-1] != 513 else row for row in rows]
    with torch.inference_mode():
        expected = [theirs.get_text_features(torch.tensor([row])).pooler_output[0] for row in rows]
    expected = torch.nn.functional.normalize(torch.stack(expected), dim=1)
    annotator = opened("clip", adopted.arrays, **adopted.settings)
    np.testing.assert_allclose(annotator.encode_captions(captions), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_heads": 3}, "Invalid sizes for CLIPModel: .*32.*3"),
        ({"patch": 32}, "patch of 32"),
        ({"context": 2}, "The option context is 2"),
        ({"tokeniser": "/nowhere/vocab.txt"}, "/nowhere/vocab.txt"),
    ],
)
def test_sizes_that_make_no_network_are_refused_before_training(options, message):
    with pytest.raises(CounterpartError, match=message) as refused:
        trained_arrays("clip", loss="contrastive", **TINY["clip"] | options)
    assert "\n" not in str(refused.value)


def test_a_training_view_is_drawn_by_the_seed_and_the_picture_is_read_once(untrained):
    images = gallery()[0][:3]
    pictures = TrainingViews(untrained.preparation, 0.5)
    views = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        views.append(np.stack(pictures.of(images)))
        images = [replace(image, file="") for image in images]
    assert views[0].shape == (3, 16, 16, 3)
    np.testing.assert_array_equal(views[0], views[1])


def test_whole_views_are_the_prepared_pictures(untrained):
    images = gallery()[0][:2]
    expected = [untrained.preparation.pixels(image.open()) for image in images]
    np.testing.assert_array_equal(TrainingViews(untrained.preparation, 1.0, limit=0).of(images), expected)
