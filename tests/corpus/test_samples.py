import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.models import Caption, Image, Sample
from corpus.samples import sample_queries
from tests.corpus.files import written
from tests.factories import make_collection


@pytest.fixture
def zoo(db):
    return make_collection(images=30)


def sampled(zoo, name="q", images=5, captions=7, **more) -> tuple[list[str], list[str]]:
    sample = sample_queries(name, collection=zoo, images=images, captions=captions, **more)
    return (
        list(sample.images.order_by("pk").values_list("key", flat=True)),
        list(sample.captions.order_by("pk").values_list("key", flat=True)),
    )


def test_a_seed_draws_the_same_whatever_the_row_ids_and_none_twice(zoo):
    twin = make_collection("twin", images=30)
    images, captions = sampled(zoo, seed=4)
    assert (len(set(images)), len(set(captions))) == (5, 7)
    assert sampled(twin, "other", seed=4) == (images, captions)
    assert sampled(zoo, "b", seed=2) != (images, captions)


def test_every_image_has_the_same_chance(zoo):
    drawn = [image for seed in range(30) for image in sampled(zoo, f"q{seed}", images=10, seed=seed)[0]]
    counts = [drawn.count(str(i)) for i in range(30)]
    assert len(drawn) == 300
    assert min(counts) >= 1  # 10 expected; 3.5 standard deviations either way
    assert max(counts) < 20


def test_training_images_and_their_captions_are_not_drawn(zoo):
    Image.objects.filter(key__in=[str(i) for i in range(20)]).update(split="train")
    images, captions = sampled(zoo, images=10, captions=20)
    assert images == [str(i) for i in range(20, 30)]
    assert captions == [str(i) for i in range(40, 60)]


def test_images_without_captions_are_drawn_only_on_request(zoo):
    Caption.objects.filter(image__key__in=["3", "5", "8"]).delete()
    drawn, _ = sampled(zoo, "with", images=27)
    assert not {"3", "5", "8"} & set(drawn)
    assert sampled(zoo, "without", images=3, captions=0, uncaptioned=True)[0] == ["3", "5", "8"]


def test_a_wish_for_more_images_says_which_ones_are_drawn_from(zoo):
    Caption.objects.filter(image__key="3").delete()
    with pytest.raises(CounterpartError, match="30 images with .* 29"):
        sampled(zoo, images=30)
    with pytest.raises(CounterpartError, match="2 images without .* 1"):
        sampled(zoo, images=2, uncaptioned=True)


def test_files_name_the_queries_also_without_captions(zoo, tmp_path):
    Caption.objects.filter(image__key="3").delete()
    images, captions = written(tmp_path / "i", "7\n 3 \n\n7\n"), written(tmp_path / "c", "12")
    assert sampled(zoo, images=images, captions=captions) == (["3", "7"], ["12"])


@pytest.mark.parametrize(
    "content",
    [
        *("\ufeff3\r7.0\u200b\r", "Image ID;text\n7;a\n3;b\n7;c\n", '{"image_id": 7.0}\n{"image_id": "3"}\n'),
        *('["3", 7.0]', "id,caption_id,image_id\n1,2,3\n1,2,7\n", "7.jpg\n3\n"),
    ],
)
def test_a_file_of_ids_may_be_a_table(zoo, tmp_path, content):
    assert sampled(zoo, images=written(tmp_path / "ids", content))[0] == ["3", "7"]


def test_of_a_table_with_both_ids_each_side_reads_its_own(zoo, tmp_path):
    pairs = written(tmp_path / "pairs.csv", "image_id,caption_id\n3,12\n7,13\n")
    assert sampled(zoo, images=pairs, captions=pairs) == (["3", "7"], ["12", "13"])


def test_ids_not_in_the_gallery_are_named(zoo, tmp_path):
    Image.objects.filter(key="3").update(split="train")
    with pytest.raises(CounterpartError, match="2 images of ids.txt: 3, 99"):
        sampled(zoo, images=written(tmp_path / "ids.txt", "3\n4\n99\n"))
    assert not Sample.objects.exists()


def test_the_same_again_is_the_sample_that_is_there(zoo):
    sample = sample_queries("q", collection=zoo, images=3, captions=3)
    assert sample_queries("q", collection=zoo, images=3, captions=3) == sample
    assert Event.objects.filter(verb="sampled").count() == 1


def test_a_name_is_of_one_sample_only(zoo):
    before = sampled(zoo)
    with pytest.raises(CounterpartError, match=r"sample q .*\(of zoo, seed 0\)"):
        sampled(zoo, seed=1)
    with pytest.raises(CounterpartError, match="Choose another name"):
        sampled(make_collection("twin", images=30))
    assert sampled(zoo) == before
