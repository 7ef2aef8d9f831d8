import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from corpus.models import Image, Match
from demo.collection import make_demo_collection
from little import LittleAnnotator
from mitl.active_learning.active_findings import figures_of, mean_of, table_of
from mitl.active_learning.active_parameters import ActiveParameters
from mitl.active_learning.experiments import active_learning
from mitl.active_learning.paired_images import read_lessons, read_measured
from mitl.models import Annotator
from tests.mitl.active_learning.little_scenario import SEED, make_scenario
from tests.mitl.plugged import plug_in

ROOT = Path(__file__).parents[3]
ALL = ("surplus", "count", "core-set", "random")


@pytest.fixture
def little(monkeypatch):
    plug_in(monkeypatch, little="little_kind")


def asked(**given) -> ActiveParameters:
    return ActiveParameters(**{"collection": "colours", "kind": "little", **given})


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_every_training_image_has_its_first_caption(colours):
    lessons = read_lessons(colours, "test")
    assert [caption.image for caption in lessons.captions] == [image.key for image in lessons.images]
    assert {caption.key[-2:] for caption in lessons.captions} == {"-0"}
    assert len(lessons.images) == 24
    assert np.array_equal(lessons.pairs, np.stack([np.arange(24)] * 2, axis=1))


def test_validation_images_choose_the_epoch_unless_retrieval_is_measured_on_them(colours):
    Image.objects.filter(split="train", key__endswith="3").update(split="val")
    assert len(read_lessons(colours, "test").validation.captions) == 12
    assert read_lessons(colours, "val").validation is None
    assert len(read_lessons(colours, "val").images) == 18


def test_retrieval_is_measured_against_the_matches_of_a_source(colours):
    red = colours.images.get(key="red4")
    other = colours.captions.get(key="green4-0")
    Match.objects.create(collection=colours, image=red, caption=other, source="labels", grade=2)
    Match.objects.create(
        collection=colours, image=red, caption=colours.captions.get(key="blue4-1"), source="labels", grade=3
    )
    found = read_measured(colours, "test", "labels")
    assert [(found.images[i].key, found.captions[c].key) for i, c in found.pairs] == [(red.key, other.key)]
    assert len(read_measured(colours, "test", "original").pairs) == 12


def test_every_score_starts_alike_and_pairs_its_own_images(tmp_path, little):
    chosen = {}
    scenario = make_scenario(tmp_path, score=ALL)
    choose = scenario._choose
    scenario._choose = lambda score, paired, *rest: chosen.setdefault(
        (score, len(paired)), choose(score, paired, *rest)
    )
    runs = scenario.run(SEED)
    assert list(runs) == list(ALL)
    assert all(len(recalls) == 4 for recalls in runs.values())
    assert len({json.dumps(recalls[0]) for recalls in runs.values()}) == 1
    assert sorted(chosen) == sorted((score, paired) for score in ALL for paired in (12, 14, 16))
    assert len({tuple(sorted(chosen[score, 12])) for score in ALL}) > 2
    for score in ALL:
        assert len(set(np.concatenate([chosen[score, paired] for paired in (12, 14, 16)]))) == 6


def test_the_same_seed_gives_the_same_figures_and_another_does_not(tmp_path, little):
    runs = [make_scenario(tmp_path / str(place)).run(seed) for place, seed in enumerate((3, 3, 4))]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.slow
def test_a_killed_run_resumes_after_its_last_finished_step_with_the_same_figures(tmp_path, little):
    command = [sys.executable, "-m", "tests.mitl.active_learning.killable_active_learning", str(tmp_path / "killed")]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "MEDIA_ROOT": str(tmp_path / "media")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)  # as pytest sets it: with the kind that the package tests
    assert subprocess.run(command, cwd=ROOT, env=environment).returncode == -signal.SIGKILL
    steps = []
    resumed = make_scenario(tmp_path / "killed", progress=lambda step, done, total: steps.append(step)).run(SEED)
    assert steps[0] == "training 4 of 7: epoch 2 of 3"
    assert resumed == make_scenario(tmp_path / "whole").run(SEED)


def test_a_run_leaves_no_file_and_no_row(colours, little, settings):
    before = files_under(settings.MEDIA_ROOT)
    active_learning(asked(score=("surplus", "random")))
    assert files_under(settings.MEDIA_ROOT) == before
    assert files_under(settings.VAR_DIR / "active_learning") == []
    assert not Annotator.objects.exists()


def test_an_interrupted_run_keeps_its_steps_for_the_same_arguments_only(colours, little):
    def interrupted(step, done, total):
        if step.startswith("training 3 "):
            raise KeyboardInterrupt

    def first_step(**given) -> str:
        steps = []
        active_learning(asked(**given), progress=lambda step, done, total: steps.append(step))
        return steps[0]

    with pytest.raises(KeyboardInterrupt):
        active_learning(asked(), progress=interrupted)
    assert first_step(seed=1).startswith("training 1 of 4")
    assert first_step().startswith("training 3 of 4")
    assert first_step().startswith("training 1 of 4")


def test_scores_refuse_annotators_that_do_not_compare_by_an_inner_product(tmp_path, little, monkeypatch):
    monkeypatch.setattr(LittleAnnotator, "comparison", lambda self, *sides: lambda images, texts: images @ texts.T)
    make_scenario(tmp_path / "random", score=("random",), steps=1).run(SEED)
    with pytest.raises(CounterpartError, match="do not compare one embedding an image"):
        make_scenario(tmp_path / "core-set", score=("core-set",)).run(SEED)


def test_an_annotator_that_has_only_lists_is_refused(colours):
    with pytest.raises(CounterpartError, match="kind nn with these options have ranked lists"):
        active_learning(asked(kind="nn", score=("random",)))


def test_embeddings_that_cannot_be_searched_are_explained(tmp_path, little, monkeypatch):
    monkeypatch.setattr(LittleAnnotator, "encode_captions", lambda self, captions: np.zeros((len(captions), 8), "f4"))
    with pytest.raises(CounterpartError, match="After 12 images, the embeddings .* zero vectors.* Raise --start"):
        make_scenario(tmp_path).run(SEED)


def test_means_have_student_s_interval():
    assert mean_of([1, 2, 3, 4, 5]) == {"mean": 3, "low": 1.04, "high": 4.96}
    assert mean_of([7]) == {"mean": 7, "low": None, "high": None}


def recalls_of(first: float, second: float) -> dict[str, float]:
    return {"i2t R@1": first, "t2i R@1": second, "rsum": 0}


def test_sums_are_over_steps_and_directions_and_differences_within_seeds():
    runs = {
        0: {"surplus": [recalls_of(1, 2), recalls_of(10, 20)], "random": [recalls_of(1, 2), recalls_of(5, 5)]},
        1: {"surplus": [recalls_of(3, 4), recalls_of(30, 40)], "random": [recalls_of(3, 4), recalls_of(25, 25)]},
    }
    figures = figures_of(runs, [3, 4], 10)
    assert figures["scores"]["surplus"]["R@1-sum"]["mean"] == (33 + 77) / 2
    assert figures["scores"]["random"]["steps"][1]["i2t R@1"]["mean"] == 15
    assert figures["scores"]["random"]["steps"][1]["share"] == 0.4
    assert figures["differences"] == {"surplus - random": {"mean": 20, "low": 20, "high": 20}}
    assert len(figures["runs"]) == 8


def test_the_command_prints_a_table_and_draws_a_chart(colours, little, capsys, tmp_path):
    plot = tmp_path / "active.svg"
    typed = ["active_learning", "colours", "--kind", "little", "--score", "surplus,random", "--seeds", "2"]
    call_command(*typed, "--option", "epochs=1", "--plot", str(plot))
    printed = capsys.readouterr().out
    assert "24 images to learn from, retrieval on the split test, 2 seeds" in printed
    assert "surplus - random" in printed
    assert "29.2%" in printed
    assert "paired images" in plot.read_text()
    call_command(*typed, "--option", "epochs=1", "--json")
    figures = json.loads(capsys.readouterr().out)
    assert table_of(figures) in printed
    assert figures["options"]["epochs"] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"collection": "absent"}, "absent"),
        ({"kind": "overlap"}, "kind overlap do not learn; use one of .*embedding, feedback, kcca, little"),
        ({"kind": "vilt"}, "kind vilt score pair by pair"),
        ({"score": ("surplus", "best")}, "Invalid score .*use some of surplus, count, core-set, random"),
        ({"score": ("count", "count")}, "each once"),
        ({"steps": 15}, "30% at the start and 15 steps of 5% are more than all 24 training images"),
        ({"step": 1}, "colours has 24 training images with captions, too few: 7 at the start, 0 in a step"),
        ({"top_k": 7}, "hard negatives of --top-k 7 need 8 pairs"),
        ({"top_k": 2, "mini_batch": 2}, "need 3 pairs"),
        ({"kind": "vse", "loss": "hope"}, "have no loss 'hope'"),
        ({"split": "train"}, "split train are learned from"),
        ({"split": "minival"}, "no images in the split minival"),
        ({"positives": "truth"}, "no matches from 'truth'"),
        ({"device": "tpu"}, "Invalid device"),
    ],
)
def test_what_cannot_be_run_is_named(colours, little, given, message):
    with pytest.raises(CounterpartError, match=message):
        active_learning(asked(**given))


@pytest.mark.slow
def test_a_network_learns_from_the_images_that_are_chosen(db):
    make_demo_collection("drawn", images=60, seed=5)
    options = {"trunk": "small", "picture": 32, "frozen": "nothing", "word": 16, "embed": 16, "rarest": 1, "rate": 1e-3}
    parameters = asked(collection="drawn", kind="vse", score=("surplus", "random"), step=20, steps=2, positives="truth")
    figures = active_learning(parameters, options=options)
    runs = {score: [run for run in figures["runs"] if run["score"] == score] for score in ("surplus", "random")}
    assert runs["surplus"][0]["rsum"] == runs["random"][0]["rsum"]
    assert [run["rsum"] for run in runs["surplus"]] != [run["rsum"] for run in runs["random"]]
    assert figures["options"]["epochs"] == 3
