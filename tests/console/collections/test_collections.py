from corpus.models import Gallery, Match
from tests.factories import make_collection


def test_a_collection_shows_its_counts_and_the_sources_of_its_matches(researcher, site):
    zoo = researcher.get("/collections/zoo/").context["collection"]
    assert (zoo.n_images, zoo.n_captions) == (8, 16)
    sources = researcher.get("/collections/zoo/matches/").context["sources"]
    assert [source["source"] for source in sources] == ["original", "v1"]


def test_pictures_are_found_by_words_of_any_of_their_captions(researcher, db):
    make_collection(images=12)
    found = researcher.get("/collections/zoo/", {"q": "caption 1 of image 11"}).context["images"]
    assert [image.key for image in found] == ["11"]


def test_the_list_counts_images_and_captions_apart_and_the_page_those_without_a_file(researcher, db):
    make_collection(images=3, captions_each=4)
    (row,) = researcher.get("/collections/").context["rows"]
    assert (row.n_images, row.n_captions, row.n_samples) == (3, 12, 0)
    assert researcher.get("/collections/zoo/").context["n_without_file"] == 3


def test_judged_non_matches_of_a_version_are_counted_apart(researcher, site):
    Match.objects.filter(source="v1").update(score=0, grade=4)
    n = Match.objects.filter(source="v1", grade=4).count()
    sources = researcher.get("/collections/zoo/matches/").context["sources"]
    (source,) = [one for one in sources if one["source"] == "v1"]
    assert (source["n"], source["n_rejected"]) == (n, n)


def test_galleries_beyond_the_rows_are_listed_with_their_sizes(researcher, db):
    Gallery.objects.create(name="sea", collection=make_collection(), n_images=10_000_000, n_captions=20_000_000)
    page = researcher.get("/collections/zoo/annotators/").text
    assert ("10,000,000" in page, "20,000,000" in page) == (True, True)


def test_the_sample_that_is_suggested_is_of_the_gallery(researcher, db):
    zoo = make_collection(images=3, captions_each=2)
    zoo.images.filter(key=zoo.images.first().key).update(split="train")
    form = researcher.get("/collections/zoo/sample/").context["form"]
    assert (form.initial["images"], form.initial["captions"]) == (2, 4)


def test_the_list_has_the_annotators_too(researcher, site):
    (annotator,) = researcher.get("/collections/").context["annotators"]
    assert (annotator.name, annotator.n_retrievals) == ("overlap", 1)
