from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError
from PIL import Image as Picture

from core.errors import CounterpartError
from corpus.pictures.looks import alike, folder_looks, hash_pictures, look_of
from dataset.models import Review
from dataset.reviews.cases import queue_of, refresh_queue
from dataset.reviews.cleanup import CleanupParameters, suggest_clean_up, why_meaningless
from dataset.reviews.reviews import Conclusion, conclude
from tests.annotation.cast import associate
from tests.commands import figures_printed
from tests.conftest import client_of
from tests.dataset.reviewing import KEPT
from tests.factories import make_collection


def drawing(seed: int, size: tuple[int, int] = (160, 120)) -> Picture.Image:
    """A picture of coarse coloured spots, another one for each seed."""
    spots = Picture.new("L", (8, 8))
    spots.putdata([(seed * 7919 + place * place * 104_729) % 251 for place in range(64)])
    return spots.resize(size, Picture.Resampling.BICUBIC).convert("RGB")


def show(image, picture: Picture.Image, quality: int = 90) -> None:
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    image.file = default_storage.save(f"{image.collection.name}/{image.key}.jpg", ContentFile(buffer.getvalue()))
    image.save()


@pytest.fixture
def zoo(db):
    """A gallery of six different pictures."""
    collection = make_collection()
    for caption in collection.captions.all():
        collection.captions.filter(pk=caption.pk).update(text=f"a zebra at tree {caption.key}")
    for seed, image in enumerate(collection.images.order_by("pk")):
        show(image, drawing(seed))
    return collection


def clean_up(name: str, **options: object) -> dict[str, int]:
    return suggest_clean_up(CleanupParameters(collection=name, **options))


def suggested(collection, reason: str) -> dict[str, str]:
    """The suggested captions by their texts, with the notes."""
    return {case.caption.text: case.reasons[reason] for case in queue_of(collection, reason).select_related("caption")}


# Captions


@pytest.mark.parametrize(
    ("text", "is_suspect"),
    [
        ("There is no image here to provide a caption for.", True),
        ("I am unable to see an image above.", True),
        ("I really cant see this image very well.", True),
        ("Why is my first one a blank every time.", True),
        ("nice picture", True),
        ("A man with a red helmet on a small moped on a dirt road.", False),
        ("An elephant wearing a sign that says I love NY", False),
        ("A picture of a dog in a mirror", False),
        ("A cat lying i the sun", False),
    ],
)
def test_a_caption_without_a_picture_is_suspect_and_a_plain_one_is_not(text, is_suspect):
    assert bool(why_meaningless(text)) == is_suspect


def test_suspect_captions_wait_for_a_person(zoo):
    zoo.captions.filter(key="3").update(text="There is no image.")
    assert figures_printed("review", "cleanup", "zoo")["meaningless"] == 1
    assert suggested(zoo, "meaningless") == {"There is no image.": "says that the picture is missing"}
    assert not Review.objects.exists()


def test_what_was_kept_is_not_suggested_again(zoo, person):
    caption = zoo.captions.get(key="3")
    zoo.captions.filter(key="3").update(text="There is no image.")
    clean_up("zoo")
    conclude(zoo, [(caption.image_id, caption.pk)], Conclusion(KEPT), by=person)
    assert clean_up("zoo")["meaningless"] == 0


def test_captions_of_the_training_set_are_left_alone(zoo):
    zoo.captions.filter(key="3").update(text="There is no image.")
    zoo.images.update(split="train")
    assert clean_up("zoo")["waiting"] == 0


# Pictures


def test_a_look_survives_scaling_and_compression():
    smaller, other = drawing(1).resize((80, 60)), drawing(2)
    assert list(alike([look_of(drawing(1))], [look_of(smaller), look_of(other)])) == [(0, 0, 0)]


def test_alike_agrees_with_counting_bits():
    looks = [look_of(drawing(seed)) for seed in range(12)]
    bits = [int(look, 16) for look in looks]
    expected = [
        (a, b, (bits[a] ^ bits[b]).bit_count())
        for a in range(12)
        for b in range(a + 1, 12)
        if (bits[a] ^ bits[b]).bit_count() <= 28
    ]
    assert list(alike(looks, near=28)) == expected
    assert expected


def test_a_repeated_picture_is_suggested_once_on_the_later_one(zoo):
    show(zoo.images.get(key="4"), drawing(1), quality=60)
    clean_up("zoo")
    (note,) = suggested(zoo, "duplicate").values()
    assert suggested(zoo, "duplicate").keys() == {"a zebra at tree 8"}
    assert note.startswith("looks like picture 1 (")


def test_a_picture_of_the_training_set_is_suggested(zoo):
    twin = zoo.images.create(key="t", file_name="t.jpg", split="train")
    show(twin, drawing(2).resize((80, 60)))
    clean_up("zoo")
    (note,) = suggested(zoo, "duplicate").values()
    assert note.startswith("looks like picture t of the training set (")


def test_a_picture_of_a_folder_is_suggested(zoo, tmp_path):
    (tmp_path / "train" / "inner").mkdir(parents=True)
    drawing(5).save(tmp_path / "train" / "inner" / "a.png")
    clean_up("zoo", against=tmp_path / "train")
    assert suggested(zoo, "duplicate")["a zebra at tree 10"].startswith("looks like inner/a.png in train (")
    assert clean_up("zoo")["duplicate"] == 1


def test_looks_are_computed_once(zoo):
    assert [hash_pictures(zoo), hash_pictures(zoo)] == [6, 0]


@pytest.mark.parametrize(("name", "message"), [("none", "has no pictures"), ("broken", "1 file cannot be read")])
def test_a_folder_without_readable_pictures_is_refused(tmp_path, name, message):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.jpg").write_bytes(b"no picture")
    with pytest.raises(CounterpartError, match=message):
        folder_looks(tmp_path / name)


# Scores


def test_a_higher_threshold_suggests_more_originals_and_holds_when_the_queue_is_updated(zoo):
    for caption, score in zip(zoo.captions.order_by("pk")[:3], (1.9, 2, 3), strict=True):
        associate(zoo, "cxc", [(caption.image_id, caption.pk)], score=score)
    assert figures_printed("review", "cleanup", "zoo")["suspicious"] == 1
    assert figures_printed("review", "cleanup", "zoo", "--below=3")["suspicious"] == 2
    zoo.refresh_from_db()
    assert refresh_queue(zoo)["suspicious"] == 2
    assert clean_up("zoo")["suspicious"] == 1


@pytest.mark.parametrize("below", ["-1", "5.1", "x"])
def test_a_threshold_outside_the_scale_is_refused(zoo, below):
    with pytest.raises(CommandError, match=f"Invalid below '?{below}"):
        figures_printed("review", "cleanup", "zoo", f"--below={below}")
    zoo.refresh_from_db()
    assert zoo.doubted_below == 2


# Commands


def exclude(path, *options) -> dict:
    return figures_printed("review", "exclude", "zoo", f"--captions={path}", "--grounds=wrong", *options)


@pytest.fixture
def listed(zoo, tmp_path):
    path = tmp_path / "captions.txt"
    path.write_text("1\n3\n3\n")
    return path


def test_listed_captions_are_excluded_in_a_reviewers_name(zoo, listed):
    client_of("reviewer")
    for _ in range(2):
        assert exclude(listed, "--by=reviewer", "--reason=Kites.")["captions reviewed"] == 2
    reviews = Review.objects.values_list("caption__key", "grounds", "reason", "by__username")
    assert list(reviews) == [("1", "wrong", "Kites.", "reviewer"), ("3", "wrong", "Kites.", "reviewer")]


@pytest.mark.parametrize(
    ("by", "reason", "keys", "message"),
    [
        ("nobody", "Kites.", "1", "Unknown or inactive user 'nobody'"),
        ("member", "Kites.", "1", "member may not review"),
        ("reviewer", " ", "1", "The reason is empty"),
        ("reviewer", "Kites.", "1\n99\n", "not in zoo: 99"),
    ],
)
def test_a_list_is_excluded_whole_or_not_at_all(zoo, listed, by, reason, keys, message):
    client_of("reviewer")
    client_of(None)
    listed.write_text(keys)
    with pytest.raises(CommandError, match=message):
        exclude(listed, f"--by={by}", f"--reason={reason}")
    assert not Review.objects.exists()
