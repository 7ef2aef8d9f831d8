import numpy as np
import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from core.files import StoredFile, read_arrays
from mitl.annotators import load
from mitl.models import Annotator
from mitl.registration import add_annotator, export_annotator
from mitl.training.trainer import train_annotator
from tests.factories import make_annotator
from tests.mitl.pictured import make_coloured_collection


@pytest.fixture
def eyes(db) -> Annotator:
    add_annotator("eyes", kind="embedding", options={"image": "patches"})
    return train_annotator("eyes", collection=make_coloured_collection())


def embeddings(annotator: Annotator) -> np.ndarray:
    return load(annotator).embed_texts(["a red square", "all of it is blue"])


@pytest.mark.slow
def test_an_exported_annotator_comes_back_with_its_weights_and_settings(eyes, tmp_path):
    call_command("export_annotator", "eyes", str(tmp_path / "eyes.npz"))
    again = add_annotator("again", kind="embedding", checkpoint=tmp_path / "eyes.npz")
    assert (again.checksum, again.options) == (eyes.checksum, eyes.options)


@pytest.mark.slow
def test_half_the_bits_make_nearly_the_same_embeddings(eyes, tmp_path):
    whole = export_annotator(eyes, tmp_path / "whole.npz")
    assert export_annotator(eyes, tmp_path / "half.npz", half=True) < 0.7 * whole
    again = add_annotator("again", kind="embedding", checkpoint=tmp_path / "half.npz")
    np.testing.assert_allclose(embeddings(again), embeddings(eyes), atol=5e-3)
    arrays = read_arrays(StoredFile(again.checkpoint, again.checksum))
    assert {array.dtype for array in arrays.values() if array.dtype.kind == "f"} == {np.dtype(np.float32)}


@pytest.mark.slow
def test_a_changed_file_is_refused(eyes, tmp_path):
    export_annotator(eyes, tmp_path / "eyes.npz")
    with np.load(tmp_path / "eyes.npz") as stored:
        arrays = dict(stored)
    np.savez(tmp_path / "eyes.npz", **arrays | {"image_bias": arrays["image_bias"] + 1})
    with pytest.raises(CounterpartError, match="was changed after it was written"):
        add_annotator("again", kind="embedding", checkpoint=tmp_path / "eyes.npz")


@pytest.mark.slow
def test_a_cut_file_is_refused(eyes, tmp_path):
    path = tmp_path / "eyes.npz"
    size = export_annotator(eyes, path)
    path.write_bytes(path.read_bytes()[: size // 2])
    with pytest.raises(CounterpartError, match="eyes.npz does not hold the weights of this embedding"):
        add_annotator("again", kind="embedding", checkpoint=path)
    assert Annotator.objects.count() == 1


@pytest.mark.slow
def test_an_annotator_of_another_kind_is_refused_with_its_kind(eyes, tmp_path):
    export_annotator(eyes, tmp_path / "eyes.npz")
    with pytest.raises(CounterpartError, match="holds an annotator of kind embedding; add it with --kind embedding"):
        add_annotator("again", kind="files", checkpoint=tmp_path / "eyes.npz")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file", "told"),
    [
        ("blank", "blank.npz", "blank has no weights to export"),
        ("eyes", "eyes.txt", "exported as .npz, not 'eyes.txt'"),
        ("eyes", "there.npz", "already exists"),
    ],
)
def test_what_cannot_be_exported_is_told_in_one_line(eyes, tmp_path, name, file, told):
    make_annotator("blank", "embedding")
    (tmp_path / "there.npz").touch()
    with pytest.raises(CounterpartError, match=told):
        export_annotator(Annotator.objects.get(name=name), tmp_path / file)
