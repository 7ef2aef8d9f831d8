import numpy as np
import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.models import Event
from counterpart_annotators.base import Adopted
from counterpart_annotators.options import number, text
from mitl.annotators import load, module_of
from mitl.models import Annotator
from mitl.registration import Origin, add_annotator
from tests.factories import make_annotator
from tests.mitl.plugged import plug_in

# This module is a kind whose checkpoint decides one of its settings.
OPTIONS = {"dim": number(128, "length of the embeddings"), "mood": text("calm", "its mood")}
CHECKPOINT = "required"


def adopt(path, settings):
    weights = np.load(path)
    return Adopted({"network.weight": weights, "words": np.array(["a", "b"])}, {"dim": weights.shape[1]})


def architecture(settings, arrays):
    return {"embedding": f"{settings['dim']} numbers"}


@pytest.fixture
def sized(monkeypatch, tmp_path):
    """The weights of an annotator that is plugged in, (4, 3)."""
    plug_in(monkeypatch, sized=__name__)
    np.save(tmp_path / "weights.npy", np.ones((4, 3), np.float32))
    return tmp_path / "weights.npy"


def write_embeddings(path, **changed):
    arrays = {
        "image_ids": np.arange(6),
        "images": np.eye(6, 4),
        "caption_ids": np.arange(12),
        "captions": np.ones((12, 4)),
    } | changed
    np.savez(path, **arrays)
    return path


def test_settings_that_are_not_given_are_written_down_with_their_defaults(db):
    annotator = add_annotator("small", kind="embedding", options={"dim": "16"})
    assert annotator.options == {"image": "patches", "text": "words", "dim": 16}
    assert Event.objects.filter(verb="added", subject=f"mitl.annotator:{annotator.pk}").count() == 1


def test_adding_the_same_again_returns_the_row_that_is_there(db, tmp_path):
    first = add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "e.npz"))
    again = add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "f.npz"))
    assert first == again
    assert Event.objects.count() == 1


def test_an_annotator_from_before_an_option_is_the_same_with_its_default(db):
    first = add_annotator("small", kind="embedding")
    Annotator.objects.update(options={"image": "patches", "text": "words"})
    assert add_annotator("small", kind="embedding") == first
    with pytest.raises(CounterpartError, match="already exists"):
        add_annotator("small", kind="embedding", options={"dim": 16})


def test_a_name_is_of_one_annotator(db):
    add_annotator("annotator", kind="overlap")
    with pytest.raises(CounterpartError, match="kind overlap already exists"):
        add_annotator("annotator", kind="embedding")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "two words", "kind": "overlap"}, "two words"),
        ({"kind": "oracle"}, "'oracle'; choose one of blip, clip, embedding"),
        ({"kind": "overlap", "options": {"colour": 1}}, "kind overlap: colour"),
        ({"kind": "embedding", "options": {"dims": 1, "x": 2}}, "kind embedding: dims, x"),
        ({"kind": "embedding", "options": {"dim": "wide"}}, "Invalid dim 'wide'"),
        ({"kind": "embedding", "options": {"dim": "1"}}, "Invalid dim '1'"),
        ({"kind": "embedding", "options": {"image": "x"}}, "Invalid image 'x': .*patches, histogram"),
        ({"kind": "files"}, "need files; pass --checkpoint"),
    ],
)
def test_what_cannot_be_added_is_named(db, arguments, message):
    with pytest.raises(CounterpartError, match=message):
        add_annotator(**{"name": "annotator", **arguments})
    assert not Annotator.objects.exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"images": np.full((6, 4), np.nan)}, "images .* 6 rows: 0, 1"),
        ({"images": np.ones((5, 4))}, r"images .* \(6, D\)"),
        ({"images": np.ones((6, 3))}, "3 dimensions and captions 4"),
        ({"captions": np.array(["x"] * 12)}, "captions must be numbers"),
        ({"image_ids": np.array([1, 1, 2, 3, 4, 5])}, "image_ids contains 1 id"),
        ({"caption_ids": np.ones(12)}, "caption_ids must be"),
    ],
)
def test_broken_embeddings_are_refused(db, tmp_path, changed, message):
    with pytest.raises(CounterpartError, match=message):
        add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "e.npz", **changed))
    assert not Annotator.objects.exists()
    assert not default_storage.exists("annotators")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i2t": {"1": ["2"', "cannot be read as JSON"),
        ("[]", "with i2t and t2i"),
        ('{"i2t": {"1": ["2"]}}', "with i2t and t2i"),
        ('{"i2t": {}, "t2i": {"2": ["1"]}}', "i2t must be"),
        ('{"i2t": {"1": [5, "5"]}, "t2i": {"2": ["1"]}}', "1 query has no valid list"),
        ('{"i2t": {"1": [true]}, "t2i": {"2": ["1"]}}', "1 query has no valid list"),
    ],
)
def test_broken_lists_are_refused(db, tmp_path, content, message):
    (tmp_path / "lists.json").write_text(content)
    with pytest.raises(CounterpartError, match=message):
        add_annotator("theirs", kind="files", checkpoint=tmp_path / "lists.json")
    assert not Annotator.objects.exists()


def test_a_checkpoint_decides_the_settings_that_were_not_given_and_describes_its_network(db, sized):
    added = add_annotator("net", kind="sized", checkpoint=sized)
    assert added.options == {"dim": 3, "mood": "calm"}
    assert added.architecture == {"embedding": "3 numbers", "parameters": "12"}


def test_an_option_that_the_checkpoint_contradicts_is_refused(db, sized):
    with pytest.raises(CounterpartError, match="dim is 3, not 7"):
        add_annotator("net", kind="sized", checkpoint=sized, options={"dim": 7})
    assert not Annotator.objects.exists()


def test_source_and_licence_may_be_given_later(db):
    add_annotator("words", kind="overlap", origin=Origin(source="ours"))
    add_annotator("words", kind="overlap", origin=Origin(licence="MIT"))
    add_annotator("words", kind="overlap")
    annotator = Annotator.objects.get()
    assert (annotator.source, annotator.licence) == ("ours", "MIT")
    assert Event.objects.filter(verb="described").count() == 2


def test_a_kind_whose_package_is_gone_is_named(db):
    with pytest.raises(CounterpartError, match="kind 'gone'"):
        load(make_annotator("old", "gone"))


def test_a_plug_in_cannot_take_the_place_of_a_kind_of_ours(db, monkeypatch):
    plug_in(monkeypatch, overlap="tests.mitl.no_such_module")
    assert module_of("overlap").__name__ == "counterpart_annotators.kinds.overlap"
