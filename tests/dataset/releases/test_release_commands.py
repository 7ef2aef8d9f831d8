import json

import pytest
from django.core.management import CommandError

from annotation.models import Assignment
from dataset.models import Version
from hits.models import Round
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.factories import make_collection, make_round, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    return made


def release(*arguments: object) -> str:
    return output_of("release", "v1", "--collection", "zoo", "--queries", "queries-zoo", *arguments)


def test_aggregate_prints_its_counts(round):
    assert json.loads(output_of("aggregate", "round-1", "--json"))["pairs"] == 2


def test_release_prints_a_line_for_each_source(round):
    output_of("aggregate", "round-1")
    printed = release("--rounds", "round-1")
    assert "\njudged by level: 1: 1, 2: 0, 3: 0, 4: 1\n" in printed
    assert (
        "\nsources:\n  source original, images for caption queries 12, captions for image queries 12, "
        "images as a multiple of the original ones 1.0, captions as a multiple of the original ones 1.0\n"
    ) in printed


def test_release_prints_counts_and_sources(round):
    figures = json.loads(release("--rounds", "round-1", "--merge", "original", "--json"))
    assert figures["judged_positive"] == 1
    assert [row["source"] for row in figures["sources"]] == ["original", "judged", "v1"]


@pytest.mark.parametrize(("policy", "levels"), [("strict", [1]), ("lenient", [1, 2]), ("1,2,3", [1, 2, 3])])
def test_release_names_policies_of_what_is_a_match(round, policy, levels):
    release("--rounds", "round-1", "--positive-levels", policy, "--method", "ordinal")
    policies = Version.objects.get().manifest["policies"]
    assert (policies["positive_levels"], policies["method"]) == (levels, "ordinal")


def test_release_reads_captions_to_exclude_from_a_file(round, tmp_path):
    (tmp_path / "bad.txt").write_text("0\n\n 3 \n")
    release("--merge", "original", "--exclude-captions", tmp_path / "bad.txt")
    assert Version.objects.get().manifest["excluded_captions"] == ["0", "3"]


def test_release_counts_votes_of_different_tasks_alike_only_where_it_is_told_to(round):
    boxes = make_round(round.pool.collection, name="boxes", candidates=2)
    answer(boxes.hits.get(), 1, 4)
    Round.objects.filter(name="boxes").update(task="checkbox")
    with pytest.raises(CommandError, match="boxes has checkbox .*; round-1 has levels .*--mixed-tasks") as refused:
        release("--rounds", "round-1,boxes")
    assert "\n" not in str(refused.value)
    assert not Version.objects.exists()
    release("--rounds", "round-1,boxes", "--mixed-tasks")
    assert Version.objects.get().manifest["counts"]["votes"] == 4


def test_export_prints_the_files_it_wrote(tmp_path):
    zoo = make_collection()
    make_sample(zoo, "queries-zoo")
    release("--merge", "original")
    printed = output_of("export", "v1", "--format", "eccv-json", "--out", tmp_path / "out").splitlines()
    out = tmp_path / "out"
    assert {f"{out}/v1_{side}.json" for side in ("image_to_caption", "caption_to_image")} <= set(printed)
    assert all((out / name).exists() for name in printed)
    with pytest.raises(CommandError, match="There is no version 'v9'"):
        output_of("export", "v9", "--format", "eccv-json", "--out", tmp_path)


@pytest.mark.django_db(transaction=True)
def test_simulate_prints_what_came_of_it():
    make_round(hits=2)
    figures = json.loads(output_of("simulate", "round-1", "--workers", 2, "--seed", 1, "--json"))
    assert figures["submitted"] == Assignment.objects.count()
    assert figures["workers"] == 2
