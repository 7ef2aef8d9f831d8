import json
import re
from pathlib import Path

import numpy as np
import pytest

from core.errors import CounterpartError
from core.progress import silent
from corpus.models import Match
from counterpart_annotators.choosing import Round
from little import LittleAnnotator, make_examples
from mitl.active_learning import active_steps
from mitl.active_learning.active_parameters import ActiveParameters
from mitl.active_learning.active_steps import HARD, Scenario, one_caption_each, read_lessons, read_measured
from mitl.active_learning.experiments import active_learning, figures_of, mean_of, table_of
from mitl.models import Annotator
from tests.commands import figures_printed, output_of
from tests.mitl.plugged import plug_in

SEED = 3
ALL = ("surplus", "count", "core-set", "random")


def make_scenario(folder: Path, **parameters) -> Scenario:
    """40 images in no database, 12 paired at the start and 2 in a step; the kind ``little`` must be plugged in."""
    lessons = make_examples(40)
    lessons = one_caption_each(
        type(lessons)(lessons.images, lessons.captions[::2], lessons.pairs[:40], lessons.weights[:40]), range(40)
    )
    asked = ActiveParameters(**{"collection": "none", "kind": "vse", "score": ("surplus", "random"), **parameters})
    annotator = Annotator(name="little", kind="little", options={"epochs": 3, "batch": 8, "rate": 0.03})
    measured = make_examples(20, start=1000)
    return Scenario(asked, annotator, "sum", lessons, measured, 12, 2, folder, silent)


@pytest.fixture
def little(monkeypatch):
    plug_in(monkeypatch, little="little_kind")


def asked(**given) -> ActiveParameters:
    return ActiveParameters(**{"collection": "colours", "kind": "little", "preset": "quick", **given})


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_every_training_image_has_its_first_caption(colours):
    lessons = read_lessons(colours, "test")
    assert [caption.image for caption in lessons.captions] == [image.key for image in lessons.images]
    assert {caption.key[-2:] for caption in lessons.captions} == {"-0"}
    assert len(lessons.images) == 24
    assert np.array_equal(lessons.pairs, np.stack([np.arange(24)] * 2, axis=1))


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


@pytest.fixture
def chosen(monkeypatch) -> dict[tuple[str, int], list[int]]:
    """What was chosen, by way and number of pairs before."""
    found = {}
    choose = Round.chosen

    def noted(state, ways, n, seed):
        arrays = choose(state, ways, n, seed)
        found.update({(way.name, len(state.paired)): arrays[f"chosen {way.name}"].tolist() for way in ways})
        return arrays

    monkeypatch.setattr(Round, "chosen", noted)
    return found


def test_every_score_starts_alike_and_pairs_its_own_images(tmp_path, little, chosen):
    runs = make_scenario(tmp_path, score=ALL).run(SEED)
    assert list(runs) == list(ALL)
    assert all(len(recalls) == 4 for recalls in runs.values())
    assert len({json.dumps({**recalls[0], HARD: 0}) for recalls in runs.values()}) == 1
    assert sorted(chosen) == sorted((score, paired) for score in ALL for paired in (12, 14, 16))
    assert len({tuple(sorted(chosen[score, 12])) for score in ALL}) > 2
    for score in ALL:
        assert len(set(np.concatenate([chosen[score, paired] for paired in (12, 14, 16)]))) == 6


def test_a_run_leaves_no_file_and_no_row(colours, little, settings):
    before = files_under(settings.MEDIA_ROOT)
    active_learning(asked(score=("surplus", "random")))
    assert files_under(settings.MEDIA_ROOT) == before
    assert files_under(settings.VAR_DIR / "active_learning") == []
    assert not Annotator.objects.exists()


def test_trainings_follow_the_paper_unless_they_are_to_be_quick(colours, little):
    settings = active_learning(asked(score=("random",), steps=1, preset=ActiveParameters.preset))["options"]
    assert (settings["epochs"], settings["decay"], settings["step"]) == (40, "step", 20)
    settings = active_learning(asked(score=("random",), steps=1), options={"rate": 0.01})["options"]
    assert (settings["epochs"], settings["step"], settings["rate"]) == (3, 15, 0.01)


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


def test_scores_are_those_of_the_annotators_own_comparison(tmp_path, little, chosen, monkeypatch):
    make_scenario(tmp_path / "products", score=("surplus",), steps=1).run(SEED)
    usual = chosen.pop(("surplus", 12))
    monkeypatch.setattr(LittleAnnotator, "comparison", lambda self, *sides: lambda images, texts: -images @ texts.T)
    make_scenario(tmp_path / "opposite", score=("surplus",), steps=1).run(SEED)
    assert chosen["surplus", 12] != usual


def test_captions_that_wait_for_images_are_chosen_by_their_own_scores(tmp_path, little, monkeypatch):
    asks_images = []
    runs = []
    monkeypatch.setattr(active_steps, "Round", lambda *state: asks_images.append(state[3]) or Round(*state))
    for side in ("images", "captions"):
        runs.append(make_scenario(tmp_path / side, unpaired=side, score=("surplus", "core-set"), steps=1).run(SEED))
        assert set(asks_images) == {side == "captions"}
        asks_images.clear()
    assert runs[0]["surplus"][0][HARD] != runs[1]["surplus"][0][HARD]
    assert json.dumps({**runs[0]["surplus"][0], HARD: 0}) == json.dumps({**runs[1]["surplus"][0], HARD: 0})


def test_a_grid_has_every_condition_of_hard_negatives_and_other_scores_once(tmp_path, little):
    asked = {"score": ("surplus", "random"), "top_k": ("1", "5"), "mini_batch": ("none", "8"), "steps": 2}
    runs = make_scenario(tmp_path, **asked).run(SEED)
    assert list(runs) == [
        *(f"surplus-{batch}-{top}" for batch in ("full", "mini-8") for top in ("top-1", "top-5")),
        "random",
    ]
    shares = {way: [step.get(HARD) for step in steps] for way, steps in runs.items()}
    assert shares["random"] == [None] * 3
    assert all(len(found) == 3 and found[2] is None for found in shares.values())
    assert shares["surplus-full-top-1"][0] < shares["surplus-full-top-5"][0]


def test_embeddings_that_cannot_be_searched_are_explained(tmp_path, little, monkeypatch):
    monkeypatch.setattr(LittleAnnotator, "encode_captions", lambda self, captions: np.zeros((len(captions), 8), "f4"))
    with pytest.raises(CounterpartError, match="After 12 pairs, .* zero"):
        make_scenario(tmp_path).run(SEED)


def test_means_have_student_s_interval():
    assert mean_of([1, 2, 3, 4, 5]) == {"mean": 3, "low": 1.04, "high": 4.96}
    assert mean_of([7]) == {"mean": 7, "low": None, "high": None}


def recalls_of(first: float, second: float) -> dict[str, float]:
    return {f"{side} R@{k}": k * value for k in (1, 5, 10) for side, value in (("i2t", first), ("t2i", second))}


def test_sums_are_over_steps_and_directions_and_differences_within_seeds():
    runs = {
        0: {"surplus": [recalls_of(1, 2), recalls_of(10, 20)], "random": [recalls_of(1, 2), recalls_of(5, 5)]},
        1: {"surplus": [recalls_of(3, 4), recalls_of(30, 40)], "random": [recalls_of(3, 4), recalls_of(25, 25)]},
    }
    figures = figures_of(runs, [3, 4], 10)
    assert figures["scores"]["surplus"]["R@1-sum"]["mean"] == (33 + 77) / 2
    assert figures["scores"]["surplus"]["R@10-sum"]["mean"] == 10 * (33 + 77) / 2
    assert figures["scores"]["random"]["steps"][1]["i2t R@1"]["mean"] == 15
    assert figures["scores"]["random"]["steps"][1]["share"] == 0.4
    assert figures["differences"] == {"surplus - random": {"mean": 20, "low": 20, "high": 20}}
    assert len(figures["runs"]) == 8


def test_the_command_prints_a_table_and_draws_a_chart(colours, little, tmp_path):
    plot = tmp_path / "active.svg"
    typed = ["active_learning", "colours", "--kind", "little", "--score", "surplus,random", "--seeds", "2"]
    printed = output_of(*typed, "--option", "epochs=1", "--plot", plot)
    assert "24 images to learn from" in printed
    assert "surplus - random" in printed
    assert "29.2%" in printed
    assert "paired images" in plot.read_text()
    assert "R@1-sum, R@5-sum, R@10-sum" in printed
    assert re.search(r"surplus +hard( +\d+\.\d\d){3}\n", printed)
    figures = figures_printed(*typed, "--option", "epochs=1")
    assert table_of(figures) in printed
    assert figures["options"]["epochs"] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "overlap"}, "kind overlap .*embedding, feedback, imram, kcca, little"),
        ({"kind": "vilt"}, "kind vilt score pair by pair"),
        ({"kind": "nn", "score": ("random",)}, "kind nn"),
        ({"steps": 15}, "15 steps of 5%"),
        ({"step": 1}, "24 training images .*: 7 at the start, 0 in a step"),
        ({"top_k": ("1", "7")}, "--top-k 7 need 8 pairs"),
        ({"top_k": ("2",), "mini_batch": ("none", "2")}, "need 3 pairs"),
        ({"score": ("core-set-bags",)}, "core-set-bags needs several embeddings of an item"),
        ({"split": "train"}, "split train"),
    ],
)
def test_what_cannot_be_run_is_named(colours, little, given, message):
    with pytest.raises(CounterpartError, match=message):
        active_learning(asked(**given))
