"""The three commands parse, call the act of their name, and print what it says; what admin pages may change."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.urls import reverse

from corpus.models import Collection, Match, Sample
from tests.commands import figures_printed, output_of
from tests.corpus.files import jsonl, line, written
from tests.factories import make_collection


def test_import_collection_says_what_it_did(db, tmp_path):
    path = jsonl(tmp_path / "c.jsonl", line(1), line(2))
    assert (
        output_of("import_collection", "zoo", "--format", "jsonl", path)
        == "zoo: 2 captions and 1 image added; undo zoo-1 takes it back.\n"
    )
    assert "2 captions already imported" in output_of("import_collection", "zoo", "--format", "jsonl", path)
    assert figures_printed("import_collection", "zoo", "--format", "jsonl", path)["captions_added"] == 0


def test_import_collection_appends_and_skips_missing_pictures(db, tmp_path):
    output_of("import_collection", "zoo", "--format", "jsonl", jsonl(tmp_path / "c.jsonl", line(1)))
    more = jsonl(tmp_path / "d.jsonl", line(2))
    wish = ("import_collection", "zoo", "--format", "jsonl", more, "--append", "--images", tmp_path)
    with pytest.raises(CommandError, match="1 picture is missing"):
        output_of(*wish)
    assert output_of(*wish, "--skip-missing") == "zoo: 1 caption and 0 images added; undo zoo-2 takes it back.\n"


def test_import_matches_goes_to_the_named_collection_and_skips_unknown_ids_on_request(db, tmp_path):
    make_collection(images=4)
    path = written(tmp_path / "m.json", {"1": [2]})
    assert (
        output_of("import_matches", "zoo", "--source", "s", path, "--direction", "i2t")
        == "s: 1 match added; undo zoo-1 takes it back.\n"
    )
    assert Match.objects.get(source="s").caption.key == "2"
    path = written(tmp_path / "m.csv", "image,caption\n0,99\n0,1\n")
    figures = figures_printed("import_matches", "zoo", "--source", "s", path, "--skip-unknown")
    assert (figures["added"], figures["skipped"]) == (1, 1)


def test_sample_queries_takes_numbers_and_files(db, tmp_path):
    make_collection(images=4)
    captions = written(tmp_path / "captions.txt", "1\n2\n")
    said = output_of(
        "sample_queries", "q", "--collection", "zoo", "--images", "3", "--captions", captions, "--seed", "5"
    )
    assert said == "q: 3 images and 2 captions of zoo.\n"
    assert Sample.objects.get().seed == 5


@pytest.fixture
def superuser(client, db):
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    return client


def test_a_row_cannot_be_deleted(superuser):
    page = reverse("admin:corpus_collection_delete", args=[make_collection().pk])
    assert superuser.post(page, {"post": "yes"}).status_code == 403
    assert Collection.objects.exists()


def test_a_description_may_be_edited_and_a_name_not(superuser):
    collection = make_collection()
    page = reverse("admin:corpus_collection_change", args=[collection.pk])
    superuser.post(page, {"name": "other", "description": "Animals."})
    assert list(Collection.objects.values_list("name", "description")) == [("zoo", "Animals.")]
