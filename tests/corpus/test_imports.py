import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.imports import import_collection
from corpus.models import Batch, Caption, Collection, Image, Match
from tests.corpus.files import jsonl, line, picture_folder, written


@pytest.fixture
def path(tmp_path):
    return tmp_path / "captions.jsonl"


def imported(path, *rows, name="zoo", **more):
    return import_collection(name, format="jsonl", path=jsonl(path, *rows), **more)


def all_rows() -> list:
    """Every row that an import may write, with its database id."""
    return [list(model.objects.order_by("pk").values()) for model in (Collection, Image, Caption, Match, Event)]


def test_captions_images_and_original_matches_come_in_file_order_with_one_event(db, path):
    summary = imported(path, line(5, 20, " b "), line(3, 10, "a"), line(4, 20, " b "))
    assert (summary.captions_added, summary.images_added) == (3, 2)
    assert list(Image.objects.values_list("key", "file_name")) == [("20", "20.jpg"), ("10", "10.jpg")]
    assert list(Caption.objects.values_list("key", "image__key", "text")) == [
        ("5", "20", " b "),
        ("3", "10", "a"),
        ("4", "20", " b "),
    ]
    matches = Match.objects.order_by("id").values_list("source", "image__key", "caption__key", "score", "grade")
    assert list(matches) == [("original", *pair, None, None) for pair in [("20", "5"), ("10", "3"), ("20", "4")]]
    event = Event.objects.get()
    assert (event.verb, event.data) == ("imported", {"batch": "zoo-1", "captions": 3, "images": 2, "pictures": 0})


def test_importing_the_same_twice_changes_nothing_and_says_so(db, path):
    imported(path, line(1), line(None))
    before = all_rows()
    assert str(imported(path, line(1), line(None))) == "zoo: 2 captions already imported; nothing changed."
    assert not imported(path, line(1), line(1)).changed  # a part of what is there, twice
    assert all_rows() == before


def test_more_captions_need_append(db, path):
    imported(path, line(1))
    before = all_rows()
    with pytest.raises(CounterpartError, match=r"^2 captions .* 2, 3.*--append"):
        imported(path, line(1), line(2), line(3))
    assert all_rows() == before


def test_append_adds_what_is_new_to_images_old_and_new(db, path):
    imported(path, line(1, 10))
    summary = imported(path, line(1, 10), line(2, 10), line(3, 11), append=True)
    assert (summary.captions_added, summary.captions_there, summary.images_added) == (2, 1, 1)
    assert list(Match.objects.values_list("caption__key", "image__key")) == [("1", "10"), ("2", "10"), ("3", "11")]


def test_a_file_without_splits_appends_to_a_collection_with_them(db, path):
    imported(path, line(1, 10, split="test"))
    imported(path, line(2, 10), append=True)
    assert Image.objects.get().split == "test"


@pytest.mark.parametrize("append", [True, False])
@pytest.mark.parametrize(
    ("clash", "complaint"),
    [
        (line(1, 10, "another"), "1 caption has another text or image"),
        (line(1, 11), "1 caption has another text or image"),
        (line(1, 10, file_name="other.jpg"), "1 image has another file name or split"),
        (line(1, 10, split="train"), "1 image has another file name or split"),
    ],
)
def test_an_id_of_something_else_is_refused(db, path, clash, complaint, append):
    imported(path, line(1, 10))
    before = all_rows()
    with pytest.raises(CounterpartError, match=complaint):
        imported(path, clash, append=append)
    assert all_rows() == before


def test_all_offenders_are_counted_and_the_first_named(db, path):
    imported(path, *(line(i) for i in range(9)))
    with pytest.raises(CounterpartError, match=r"^9 captions .*4 and 4 more\."):
        imported(path, *(line(i, text="other") for i in range(9)))


def test_of_one_id_within_a_file_equal_lines_are_one_caption_and_others_a_clash(db, path):
    with pytest.raises(CounterpartError, match=r"1 caption has another .*: 1\."):
        imported(path, line(1, text="a"), line(1, text="b"))
    assert not Collection.objects.exists()
    assert imported(path, line(1), line(1)).captions_added == 1


def test_equal_ids_in_another_collection_are_no_clash(db, path):
    imported(path, line(1, text="a"))
    imported(path, line(1, text="b"), name="farm")
    assert Caption.objects.count() == 2


def test_a_bad_line_after_good_ones_leaves_nothing(db, path):
    imported(path, line(0))
    before = all_rows()
    jsonl(path, *(line(i) for i in range(1, 6_000)), line(text=None))
    with pytest.raises(CounterpartError, match="line 6000"):
        import_collection("zoo", format="jsonl", path=path, append=True)
    assert all_rows() == before


def test_images_without_captions_are_imported_and_counted(db, tmp_path):
    folder = picture_folder(tmp_path / "zoo", "a.jpg", "b.jpg")
    written(folder / "a.txt", "a cat")
    summary = import_collection("zoo", format="folder", path=folder)
    assert (
        str(summary)
        == "zoo: 1 caption and 2 images added; 2 pictures stored; 1 image has no caption; undo zoo-1 takes it back."
    )
    assert [image.key for image in Image.objects.uncaptioned()] == ["b.jpg"]
    assert [image.key for image in Image.objects.captioned()] == ["a.jpg"]


def test_a_collection_may_have_images_alone(db, path):
    summary = imported(path, line(None, 10, None), line(None, 11, None, split="test"))
    assert str(summary) == "zoo: 2 images added; 2 images have no caption; undo zoo-1 takes it back."
    assert list(Image.objects.values_list("key", "split")) == [("10", ""), ("11", "test")]
    assert not imported(path, line(None, 10, None)).changed


def test_more_images_without_captions_need_append(db, path):
    imported(path, line(1, 10))
    before = all_rows()
    with pytest.raises(CounterpartError, match=r"^1 image .*: 11\..*--append"):
        imported(path, line(None, 11, None))
    assert all_rows() == before
    assert imported(path, line(None, 11, None), append=True).images_without_captions == 1


def test_an_image_gets_its_captions_later(db, path):
    imported(path, line(None, 10, None), line(None, 11, None))
    summary = imported(path, line(1, 10), append=True)
    assert str(summary) == "zoo: 1 caption and 0 images added; 1 image has no caption; undo zoo-2 takes it back."
    assert Match.objects.get().image.key == "10"


@pytest.mark.parametrize("first", [0, 1])
def test_an_image_that_a_file_lists_with_and_without_a_caption_is_one(db, path, first):
    lines = [line(None, 10, None), line(1, 10)]
    summary = imported(path, lines[first], lines[1 - first])
    assert (summary.images_added, summary.images_without_captions) == (1, 0)


def test_every_import_is_a_batch_to_which_its_rows_point(db, path):
    imported(path, line(1, 10), language="en")
    imported(path, line(2, 11), line(3, 10), append=True, actor="kim")
    first, second = Batch.objects.all()
    assert (first.name, first.kind, first.file, first.language) == ("zoo-1", "collection", "captions.jsonl", "en")
    assert (second.by, second.counts) == ("kim", {"captions": 2, "images": 1})
    for kind in (Image, Caption, Match):
        assert list(kind.objects.order_by("pk").values_list("batch", flat=True))[:2] == [first.pk, second.pk]


def test_an_id_that_is_written_in_two_unicode_forms_is_one(db, tmp_path):
    composed, apart = "caf\u00e9", "cafe\u0301"
    path = tmp_path / "captions.jsonl"
    jsonl(path, line(1, composed, file_name=composed), line(2, apart, file_name=apart, text="E\u0301cole"))
    assert import_collection("zoo", format="jsonl", path=path).images_added == 1
    assert not import_collection("zoo", format="jsonl", path=path).changed
    assert list(Caption.objects.values_list("image__key", "text")) == [(composed, "a cat"), (composed, "E\u0301cole")]
