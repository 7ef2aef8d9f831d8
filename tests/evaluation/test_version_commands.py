"""``verify`` and ``diff``: what they print, and how they end."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Judgment
from core.files.stored_files import write_file
from counterpart_metrics import SCORED
from dataset.models import Version
from evaluation.models import Run, Score
from evaluation.scores.scoring import evaluate_version
from hits.packing.designs import Design
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample
from tests.hits.pools import pack, pool_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def versions() -> tuple[Version, Version]:
    """Two versions of an answered round that differ in their positive levels, both scored."""
    zoo = make_collection(images=12)
    round = pack("round-1", pool_of(8, images=12, collection=zoo), design=Design("small", 4, 1, 1))
    round.published_at = timezone.now()
    round.save()
    for hit in round.hits.all():
        answer(hit, 1, 2, 3, 4)
    release = {"collection": zoo, "sample": round.pool.sample, "rounds": [round]}
    made = release_version("v1", **release), release_version("v2", positive_levels=(1,), **release)
    for version in made:
        evaluate_version(version)
    return made


def failed(check: str, *options: str) -> str:
    """What a verification prints that fails by one check."""
    out = StringIO()
    with pytest.raises(CommandError, match=f"does not verify: {check}"):
        call_command("verify", "v1", *options, stdout=out)
    return out.getvalue()


def test_verify_names_every_check_and_fails_with_what_it_found(versions):
    printed = output_of("verify", "v1").splitlines()
    names = ("files", "collection", "packing", "judgments", "contents", "scores")
    assert printed == [f"{name}: ok" for name in names]
    assert json.loads(output_of("verify", "v1", "--json"))["passed"]
    write_file("versions/v1/pairs.csv", b"x")
    first, problem, *others = failed("files").splitlines()
    assert (first, "versions/v1/pairs.csv" in problem) == ("files: FAILED", True)
    assert "judgments: ok" in others


def test_verify_prints_json_even_if_it_fails(versions):
    judgment = Judgment.objects.filter(level=1).first()
    Judgment.objects.filter(pk=judgment.pk).update(level=2)
    outcome = json.loads(failed("judgments", "--json"))
    assert not outcome["passed"]
    assert [check["check"] for check in outcome["checks"] if check["problems"]] == ["judgments"]


def test_a_score_that_was_changed_is_named(versions):
    score = Score.objects.filter(version=versions[0]).first()
    Score.objects.filter(pk=score.pk).update(value=score.value + 0.25)
    named = f"{score.run.model}, {score.direction} {score.metric}:"
    assert named in failed("scores")


def test_scores_of_a_file_that_is_not_stored_are_noted(versions, tmp_path):
    zoo = versions[0].collection
    lists = {str(key): ["0"] for key in zoo.captions.values_list("key", flat=True)}
    (tmp_path / "mine.json").write_text(json.dumps({"t2i": lists}))
    evaluate_version(versions[0], rankings=[tmp_path / "mine.json"])
    assert output_of("verify", "v1").endswith("scores: ok\n")
    Run.objects.filter(model="mine").update(file="")  # as an earlier program left it
    assert "note: 1 run was scored from" in output_of("verify", "v1")


def test_diff_gives_causes_examples_and_the_effect_on_scores_and_writes_every_changed_pair(versions, tmp_path):
    printed = output_of("diff", "v1", "v2", "--csv", tmp_path / "changes.csv")
    assert printed.startswith("2 pairs differ between v1 and v2:\n        2  threshold: other levels are positive")
    rows = list(csv.DictReader((tmp_path / "changes.csv").open()))
    assert [(row["before"], row["after"], row["cause"]) for row in rows] == [
        ("match, level 2", "no match, level 2", "threshold")
    ] * 2
    outcome = json.loads(output_of("diff", "v1", "v2", "--json"))
    assert (outcome["changed_pairs"], outcome["causes"]) == (2, {"threshold": 2})
    assert {row["model"] for row in outcome["scores"]} == set(Score.objects.values_list("run__model", flat=True))
    assert list(dict.fromkeys(row["metric"] for row in outcome["scores"])) == list(SCORED)


def test_diff_of_equal_versions_without_scores_says_so(db):
    zoo = make_collection()
    for name in ("v1", "v2"):
        release_version(name, collection=zoo, sample=make_sample(zoo, name), merge="original")
    printed = output_of("diff", "v1", "v2")
    assert printed.startswith("v1 and v2 say the same of every pair.\nNo model was scored on both versions")
