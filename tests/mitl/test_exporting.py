import numpy as np
import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from core.files.stored_files import StoredFile, read_arrays
from mitl.annotators import built_in, kind_of, load
from mitl.models import Annotator
from mitl.registration import add_annotator, export_annotator
from mitl.training.trainer import train_annotator
from tests.commands import figures_printed, output_of
from tests.factories import make_annotator
from tests.mitl.pictured import make_coloured_collection


@pytest.fixture
def eyes(db) -> Annotator:
    add_annotator("eyes", kind="embedding", options={"image": "histogram", "dim": 8})
    return train_annotator("eyes", collection=make_coloured_collection())


def embeddings(annotator: Annotator) -> np.ndarray:
    return load(annotator).embed_texts(["a red square", "all of it is blue"])


def test_half_the_bits_make_nearly_the_same_embeddings(eyes, tmp_path):
    export_annotator(eyes, tmp_path / "half.npz", half=True)
    with np.load(tmp_path / "half.npz") as stored:
        assert {array.dtype for array in stored.values() if array.dtype.kind == "f"} == {np.dtype(np.float16)}
    again = add_annotator("again", kind="embedding", checkpoint=tmp_path / "half.npz")
    np.testing.assert_allclose(embeddings(again), embeddings(eyes), atol=5e-3)
    arrays = read_arrays(StoredFile(again.checkpoint, again.checksum))
    assert {array.dtype for array in arrays.values() if array.dtype.kind == "f"} == {np.dtype(np.float32)}


def test_a_file_that_was_changed_or_cut_or_is_of_another_kind_is_refused(eyes, tmp_path):
    path = tmp_path / "eyes.npz"
    export_annotator(eyes, path)
    with pytest.raises(CounterpartError, match="--kind embedding"):
        add_annotator("again", kind="files", checkpoint=path)
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **arrays | {"image_bias": arrays["image_bias"] + 1})
    with pytest.raises(CounterpartError, match="was changed"):
        add_annotator("again", kind="embedding", checkpoint=path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(CounterpartError, match="eyes.npz does not hold"):
        add_annotator("again", kind="embedding", checkpoint=path)
    assert Annotator.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("blank", "blank.npz", "blank has no weights"),
        ("eyes", "eyes.txt", "'eyes.txt'"),
        ("eyes", "there.npz", "already exists"),
    ],
)
def test_what_cannot_be_exported_is_refused(eyes, tmp_path, name, file, message):
    make_annotator("blank", "embedding")
    (tmp_path / "there.npz").touch()
    with pytest.raises(CounterpartError, match=message):
        export_annotator(Annotator.objects.get(name=name), tmp_path / file)


def test_train_annotator_prints_its_figures(db):
    make_coloured_collection()
    call_command("add_annotator", "eyes", "--kind", "embedding", "--option", "image=histogram")
    figures = figures_printed("train_annotator", "eyes", "--collection", "colours")
    assert (figures["annotator"], figures["pairs"], figures["loss"]) == ("eyes", 48, "")
    assert figures["weights"] == Annotator.objects.get().checksum


@pytest.mark.parametrize("kind", built_in())
def test_the_settings_of_every_kind_are_printed(db, kind):
    printed = output_of("add_annotator", "any", "--kind", kind, "--tell-settings")
    assert all(f"{name}={option.initial}: " in printed for name, option in kind_of(kind).options.items())
    assert printed
