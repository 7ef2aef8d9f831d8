"""``verify``, ``diff`` and ``evaluate``: what they print, and how they end."""

import csv
import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Judgment
from core.files.stored_files import write_file
from counterpart_metrics import SCORED
from dataset.exports import export_version
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


@pytest.fixture
def evaluate(tmp_path):
    """Scores a model that is right on caption → image and knows one caption of image 1's two."""
    zoo = make_collection(images=2, captions_each=2)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    path = tmp_path / "model_a.json"
    path.write_text(json.dumps({"i2t": {"0": [0, 1], "1": [2]}, "t2i": {str(c): [c // 2] for c in range(4)}}))

    def evaluate(*arguments: str) -> str:
        return output_of("evaluate", "--version", "v1", "--rankings", str(path), *arguments)

    return evaluate


def test_the_tables_have_averages_first_and_say_where_lists_were_short(evaluate):
    *tables, note = evaluate().splitlines()
    assert tables[::4] == ["average of both", "image → captions", "caption → images"]
    assert {tuple(head.split()) for head in tables[1::4]} == {("model", "mAP@R", "R-Precision", "R@1", "R@5", "R@10")}
    averages, i2t, t2i = ["87.5", "87.5", *["100.0"] * 3], ["75.0", "75.0", *["100.0"] * 3], ["100.0"] * 5
    rows = [row.replace("*", "").split() for row in tables[2::4]]
    assert rows == [["model_a", *cells] for cells in (averages, i2t, t2i)]
    assert note.startswith("model_a image → captions: 1 query has more positives")


def test_a_version_and_its_export_are_benchmarks_with_equal_figures(evaluate, tmp_path):
    export_version(Version.objects.get(), format="qrels", out=tmp_path / "theirs")
    file = tmp_path / "theirs/v1_image_to_caption_lenient.qrels"
    place = file.rename(file.with_name(file.name.replace("v1_", "flickr_")))  # another site's, of one direction
    words = ("--benchmark", f"{place},v1", "--rankings", str(tmp_path / "model_a.json"))
    found = json.loads(output_of("evaluate", *words, "--json"))["model_a"]
    values = {name: {m: one["value"] for m, one in found[name]["i2t"].items()} for name in ("v1", "flickr")}
    assert values["v1"] == values["flickr"]
    assert values["v1"]["mAP@R"] == 0.75
    assert [run.model for run in Run.objects.filter(scores__version__name="v1").distinct()] == ["model_a"]
    assert "v1 average of both" in output_of("evaluate", *words)
    with pytest.raises(CommandError, match=r"Unknown benchmarks v2: .* nor a released version \(v1\), nor one of eccv"):
        output_of("evaluate", "--benchmark", "v1,v2", *words[2:])


def test_models_are_compared_with_the_best(evaluate, tmp_path):
    (tmp_path / "worse.json").write_text(json.dumps({"t2i": {str(c): [1 - c // 2] for c in range(4)}}))
    average, _, t2i = (block.splitlines() for block in evaluate(str(tmp_path / "worse.json")).split("\n\n")[:3])
    assert [line.split()[0] for line in t2i[2:]] == ["model_a", "worse"]
    assert t2i[2].split()[1] == "100.0*"
    # Four queries are too few, even if one model is right and the other wrong throughout: p = 1/8.
    assert average[3].split()[1:] == ["-"] * 5
    assert t2i[3].split()[1:] == ["0.0~"] * 5


def test_csv_latex_and_json_have_the_figures_too(evaluate):
    (row,) = csv.DictReader(StringIO(evaluate("--csv")))
    assert (row["model"], row["i2t mAP@R"]) == ("model_a", "75.0")
    row = next(line for line in evaluate("--latex").splitlines() if line.startswith(r"model\_a"))
    assert row.split(" & ")[1:4] == ["87.5", "87.5", "100.0"]
    figures = json.loads(evaluate("--json"))["model_a"]
    assert {name: one["value"] for name, one in figures["i2t"].items()} == {
        "mAP@R": 0.75, "R-Precision": 0.75, "R@1": 1.0, "R@5": 1.0, "R@10": 1.0
    }  # fmt: skip
    assert figures["i2t"]["R@1"]["queries"] == 2
    assert figures["i2t"]["mAP@R"]["low"] <= 0.75 <= figures["i2t"]["mAP@R"]["high"]
    assert len(figures["notes"]) == 1


def test_every_form_says_what_the_figures_are_and_from_how_many_queries(evaluate):
    source = "Counted of the matches of version v1, from 2 images and 4 captions."
    assert any(line.startswith(source) for line in evaluate().splitlines())
    assert source in evaluate("--latex")
    (row,) = csv.DictReader(StringIO(evaluate("--csv")))
    assert (row["kind"], row["estimand"], row["n_queries"]) == ("counted", "matches of version v1", "i2t 2; t2i 4")
    figures = json.loads(evaluate("--json"))["model_a"]
    for part, queries in (("average", 6), ("i2t", 2), ("t2i", 4)):
        for one in figures[part].values():
            assert (one["kind"], one["estimand"]) == ("counted", "matches of version v1")
            assert one["n_queries"] == one["queries"] == queries


@pytest.mark.parametrize("words", ["diff v1 v2", "analyse positives v1", "evaluate --version v1"])
def test_csv_is_printed_or_written_alike_by_every_command(versions, tmp_path, words):
    printed = output_of(*words.split(), "--csv")
    text = output_of(*words.split(), "--csv", tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().strip() == printed.strip() != ""
    assert text == output_of(*words.split())


def test_the_csv_can_be_read_by_analyse_benchmarks(evaluate, written, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(evaluate(written("other.json", 1), "--csv"))
    assert not {"kind", "estimand", "n_queries"} & set(
        json.loads(output_of("analyse", "benchmarks", "--scores", str(path), "--json"))["metrics"]
    )


@pytest.fixture
def written(tmp_path):
    """Writes rankings whose R@1 is ``right`` of 4 captions, at a path below the test's folder."""

    def written(name: str, right: int) -> str:
        lists = {"t2i": {str(c): [c // 2 if c < right else 1 - c // 2] for c in range(4)}}
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(lists))
        return str(path)

    return written


def as_npz(path: str) -> str:
    lists = json.loads(Path(path).read_text())["t2i"]
    np.savez(Path(path).with_suffix(".npz"), t2i_queries=list(map(int, lists)), t2i_items=list(lists.values()))
    return str(Path(path).with_suffix(".npz"))


def scores_of(evaluate, *files: str) -> dict[str, float]:
    """R@1 from caption to image of each model."""
    return {model: one["t2i"]["R@1"]["value"] for model, one in json.loads(evaluate(*files, "--json")).items()}


def test_files_of_one_name_are_named_by_their_folders(evaluate, written):
    both = written("ma/rankings.json", 4), written("mb/rankings.json", 1)
    assert scores_of(evaluate, *both) == {"model_a": 1.0, "ma": 1.0, "mb": 0.25}
    assert set(Run.objects.values_list("model", flat=True)) == {"model_a", "ma", "mb"}


def test_files_that_differ_in_their_suffix_keep_it(evaluate, written):
    text = written("r.json", 1)
    assert set(scores_of(evaluate, text, as_npz(written("r.json", 4)))) == {"model_a", "r.json", "r.npz"}


def test_files_that_folders_do_not_distinguish_are_refused_and_nothing_is_stored(evaluate, written):
    for folder in ("a", "b"):
        written(f"{folder}/s.json", 1)
    for files in (("a/r.json", "a/r.json"), ("a/x/r.json", "b/x/r.json"), ("a/r.json", "b/r.json", "a.json")):
        with pytest.raises(CommandError, match="of a model (r|x|a)"):
            evaluate(*(written(name, 1 + place) for place, name in enumerate(files)))
    assert not Run.objects.exists()
