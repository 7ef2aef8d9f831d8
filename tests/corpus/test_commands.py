"""The three commands: they parse, call the act of their name, and print what it says."""

import pytest
from django.core.management import CommandError

from corpus.models import Match, Sample
from tests.commands import figures_printed, output_of
from tests.corpus.files import jsonl, line, written
from tests.factories import make_collection


def test_import_collection_says_what_it_did(db, tmp_path):
    path = jsonl(tmp_path / "c.jsonl", line(1), line(2))
    assert output_of("import_collection", "zoo", "--format", "jsonl", path) == "zoo: 2 captions and 1 image added.\n"
    assert "2 captions already imported" in output_of("import_collection", "zoo", "--format", "jsonl", path)
    assert figures_printed("import_collection", "zoo", "--format", "jsonl", path)["captions_added"] == 0


def test_import_collection_appends_and_skips_missing_pictures(db, tmp_path):
    output_of("import_collection", "zoo", "--format", "jsonl", jsonl(tmp_path / "c.jsonl", line(1)))
    more = jsonl(tmp_path / "d.jsonl", line(2))
    wish = ("import_collection", "zoo", "--format", "jsonl", more, "--append", "--images", tmp_path)
    with pytest.raises(CommandError, match="1 picture is missing"):
        output_of(*wish)
    assert output_of(*wish, "--skip-missing") == "zoo: 1 caption and 0 images added.\n"


def test_import_matches_goes_to_the_named_collection_and_skips_unknown_ids_on_request(db, tmp_path):
    make_collection(images=4)
    path = written(tmp_path / "m.json", {"1": [2]})
    assert output_of("import_matches", "zoo", "--source", "s", path, "--direction", "i2t") == "s: 1 match added.\n"
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
