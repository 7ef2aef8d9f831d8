import pytest
from django.core.management import CommandError

from dataset.models import Version
from tests.commands import figures_printed, output_of
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


RELEASE = ("release", "v1", "--collection", "zoo", "--queries", "queries-zoo")


def test_release_prints_counts_and_sources(round):
    figures = figures_printed(*RELEASE, "--rounds", "round-1", "--merge", "original")
    assert figures["judged_positive"] == 1
    assert [row["source"] for row in figures["sources"]] == ["original", "judged", "v1"]


@pytest.mark.parametrize(("policy", "levels"), [("strict", [1]), ("lenient", [1, 2]), ("1,2,3", [1, 2, 3])])
def test_release_names_policies_of_what_is_a_match(round, policy, levels):
    output_of(*RELEASE, "--rounds", "round-1", "--positive-levels", policy, "--method", "ordinal")
    policies = Version.objects.get().manifest["policies"]
    assert (policies["positive_levels"], policies["method"]) == (levels, "ordinal")


def test_export_prints_the_files_it_wrote(tmp_path):
    zoo = make_collection()
    make_sample(zoo, "queries-zoo")
    output_of(*RELEASE, "--merge", "original")
    printed = output_of("export", "v1", "--format", "eccv-json", "--out", tmp_path / "out").splitlines()
    out = tmp_path / "out"
    assert {f"{out}/v1_{side}.json" for side in ("image_to_caption", "caption_to_image")} <= set(printed)
    assert all((out / name).exists() for name in printed)
    with pytest.raises(CommandError, match="Unknown version 'v9'"):
        output_of("export", "v9", "--format", "eccv-json", "--out", tmp_path)
