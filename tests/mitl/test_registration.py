import json

import numpy as np
import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.models import Event
from mitl.annotators import load, module_of
from mitl.models import Annotator
from mitl.registration import Origin, add_annotator
from tests.factories import make_annotator
from tests.mitl.plugged import plug_in


@pytest.fixture
def sized(monkeypatch, tmp_path):
    """The weights of an annotator that is plugged in, (4, 3)."""
    plug_in(monkeypatch, sized="tests.mitl.sized")
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


def write_lists(path, i2t, t2i):
    path.write_text(json.dumps({"i2t": i2t, "t2i": t2i}))
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


def test_a_name_stands_for_one_annotator_only(db):
    add_annotator("annotator", kind="overlap")
    with pytest.raises(CounterpartError, match="annotator annotator of kind overlap already exists"):
        add_annotator("annotator", kind="embedding")


def test_other_files_need_another_name(db, tmp_path):
    add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "e.npz"))
    with pytest.raises(CounterpartError, match="choose another name"):
        add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "e.npz", images=np.ones((6, 4))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "two words", "kind": "overlap"}, "two words"),
        ({"kind": "oracle"}, "Unknown kind of annotator 'oracle'; choose one of blip, clip, embedding"),
        ({"kind": "overlap", "options": {"colour": 1}}, "1 unknown option for kind overlap: colour; it has none"),
        (
            {"kind": "embedding", "options": {"dims": 1, "x": 2}},
            "2 unknown options for kind embedding: dims, x; it has",
        ),
        ({"kind": "embedding", "options": {"dim": "wide"}}, "Invalid dim 'wide': enter a whole number."),
        (
            {"kind": "embedding", "options": {"dim": "1"}},
            "Invalid dim '1': ensure this value is greater than or equal to 2.",
        ),
        ({"kind": "embedding", "options": {"image": "x"}}, "Invalid image 'x': use one of patches, histogram."),
        ({"kind": "files"}, "need files; pass --checkpoint"),
    ],
)
def test_what_cannot_be_added_is_named(db, arguments, message):
    with pytest.raises(CounterpartError, match=message):
        add_annotator(**{"name": "annotator", **arguments})
    assert not Annotator.objects.exists()


def test_a_checkpoint_that_is_not_wanted_or_not_there_is_refused(db, tmp_path):
    with pytest.raises(CounterpartError, match="overlap have no weights"):
        add_annotator("annotator", kind="overlap", checkpoint=write_embeddings(tmp_path / "e.npz"))
    with pytest.raises(CounterpartError, match="No checkpoint at"):
        add_annotator("annotator", kind="files", checkpoint=tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"images": np.full((6, 4), np.nan)}, "images holds NaN or infinity in 6 rows: 0, 1"),
        ({"images": np.ones((5, 4))}, r"images must be numbers of shape \(6, D\)"),
        ({"images": np.ones((6, 3))}, "images have 3 dimensions and captions 4"),
        ({"captions": np.array(["x"] * 12)}, "captions must be numbers"),
        ({"image_ids": np.array([1, 1, 2, 3, 4, 5])}, "image_ids contains 1 id more than once: 1"),
        ({"caption_ids": np.ones(12)}, "caption_ids must be one row of numbers or texts"),
    ],
)
def test_broken_embeddings_are_refused(db, tmp_path, changed, message):
    with pytest.raises(CounterpartError, match=message):
        add_annotator("theirs", kind="files", checkpoint=write_embeddings(tmp_path / "e.npz", **changed))
    assert not Annotator.objects.exists()
    assert not default_storage.exists("annotators")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"not arrays at all"])
def test_a_file_that_is_no_npz_is_refused(db, tmp_path, content):
    (tmp_path / "e.npz").write_bytes(content)
    with pytest.raises(CounterpartError, match="does not contain the arrays image_ids, images"):
        add_annotator("theirs", kind="files", checkpoint=tmp_path / "e.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i2t": {"1": ["2"', "cannot be read as JSON"),
        ("[]", "must be a JSON object with i2t and t2i"),
        ('{"i2t": {"1": ["2"]}}', "must be a JSON object with i2t and t2i"),
        ('{"i2t": {}, "t2i": {"2": ["1"]}}', "i2t must be an object of lists"),
        ('{"i2t": {"1": []}, "t2i": {"2": ["1"]}}', "1 query has no valid list of ids, each once: 1"),
        ('{"i2t": {"1": [5, "5"]}, "t2i": {"2": ["1"]}}', "1 query has no valid list of ids, each once: 1"),
        ('{"i2t": {"1": [true]}, "t2i": {"2": ["1"]}}', "1 query has no valid list of ids"),
    ],
)
def test_broken_lists_are_refused(db, tmp_path, content, message):
    (tmp_path / "lists.json").write_text(content)
    with pytest.raises(CounterpartError, match=message):
        add_annotator("theirs", kind="files", checkpoint=tmp_path / "lists.json")
    assert not Annotator.objects.exists()


def test_a_checkpoint_decides_the_settings_that_nobody_gave(db, sized):
    assert add_annotator("net", kind="sized", checkpoint=sized).options == {"dim": 3, "mood": "calm"}


def test_an_option_that_the_checkpoint_contradicts_is_refused(db, sized):
    with pytest.raises(CounterpartError, match="contradicts 1 option: dim is 3, not 7. Leave them out"):
        add_annotator("net", kind="sized", checkpoint=sized, options={"dim": 7})
    assert not Annotator.objects.exists()


def test_the_network_behind_the_weights_is_told(db, sized):
    told = add_annotator("net", kind="sized", checkpoint=sized).architecture
    assert told == {"embedding": "3 numbers", "parameters": "12"}


def test_source_and_licence_are_told_and_may_be_told_later(db):
    add_annotator("words", kind="overlap", origin=Origin(source="ours"))
    add_annotator("words", kind="overlap", origin=Origin(licence="MIT"))
    add_annotator("words", kind="overlap")
    annotator = Annotator.objects.get()
    assert (annotator.source, annotator.licence) == ("ours", "MIT")
    assert Event.objects.filter(verb="described").count() == 2


def test_a_kind_whose_package_is_gone_is_told_in_one_line(db):
    with pytest.raises(CounterpartError, match="No installed package provides annotators of kind 'gone'"):
        load(make_annotator("old", "gone"))


def test_a_plug_in_cannot_take_the_place_of_a_kind_of_ours(db, monkeypatch):
    plug_in(monkeypatch, overlap="tests.mitl.no_such_module")
    assert module_of("overlap").__name__ == "mitl.annotators.overlap"
