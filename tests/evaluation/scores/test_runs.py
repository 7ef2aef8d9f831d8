import json

import numpy as np
import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.files.stored_files import read_arrays
from corpus.models import Match
from evaluation.models import Run, Score
from evaluation.scores.runs import open_run, register_file
from evaluation.scores.scoring import evaluate_version, score_all_runs, score_everywhere, unscored
from mitl.models import Direction, Retrieval
from mitl.search.gallery import RankedLists, store_lists
from tests.dataset.releasing import release_version
from tests.factories import make_annotator, make_collection, make_retrieval, make_round, make_sample

pytestmark = pytest.mark.django_db

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


@pytest.fixture
def zoo():
    """Images 0-2, image i with captions 2i and 2i + 1."""
    return make_collection(images=3, captions_each=2)


@pytest.fixture
def version(zoo):
    return release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")


@pytest.fixture
def rankings(tmp_path):
    def write(content: object):
        path = tmp_path / "model-a.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


GOOD = {
    "i2t": {"0": [0, 1, 2], "1": [3, 0, 2], "2": [0, 1, 2]},
    "t2i": {str(caption): [caption // 2, 0, 1] if caption else [1, 0] for caption in range(6)},
}


def test_means_are_over_the_queries_of_each_direction(version, rankings):
    (scored,) = evaluate_version(version, rankings=[rankings({"i2t": GOOD["i2t"]})])
    means = {metric: figure.value for metric, figure in scored.figures[I2T].items()}
    # Image 0: all right. Image 1: first right, second wrong. Image 2: nothing.
    right = {"R@1": 2 / 3, "R@5": 2 / 3, "R@10": 2 / 3, "R-Precision": 1.5 / 3, "mAP@R": 1.5 / 3}
    assert means == pytest.approx(right)
    assert scored.values[I2T]["R-Precision"].tolist() == [1, 0.5, 0]
    assert T2I not in scored.figures


def test_runs_and_scores_are_stored_and_those_of_a_second_scoring_replace_them(version, rankings):
    path = rankings({**GOOD, "t2i": {str(caption): [caption // 2] for caption in range(6)}})
    evaluate_version(version, rankings=[path])
    run = Run.objects.get()
    assert (run.model, run.collection, len(run.sha256)) == ("model-a", version.collection, 64)
    assert default_storage.open(run.file).read() == path.read_bytes()
    score = Score.objects.get(metric="R@1", direction="t2i")
    assert (score.version, score.value, score.low, score.high) == (version, 1.0, 1.0, 1.0)
    assert read_arrays(score.values_of_queries)["t2i R@1"].tolist() == [1.0] * 6
    assert Score.objects.get(metric="mAP@R", direction="i2t").queries == 3
    evaluate_version(version, rankings=[path])
    assert (Run.objects.count(), Score.objects.count()) == (1, 10)


def test_the_same_figures_on_the_original_matches_alone_are_stored_too(zoo, rankings):
    """The first caption of image 1 describes image 0 too, and no other image has a match on the version."""
    image = zoo.images.order_by("pk")[0]
    for caption in zoo.captions.order_by("pk")[:3]:
        Match.objects.create(collection=zoo, image=image, caption=caption, source="more", score=1)
    version = release_version("v2", collection=zoo, sample=make_sample(zoo), merge="more")
    evaluate_version(version, rankings=[rankings({"i2t": {"0": [2, 0, 1]}})])
    score = Score.objects.get(metric="mAP@R")
    # Places 1 to 3 hold its matches; of places 1 and 2, the second holds one of its two original ones.
    assert (score.value, score.original, score.queries) == (1, 0.25, 1)


def test_queries_without_positives_are_left_out(zoo, rankings):
    Match.objects.exclude(image__key="0").delete()
    version = release_version("v2", collection=zoo, sample=make_sample(zoo), merge="original")
    (scored,) = evaluate_version(version, rankings=[rankings({"i2t": {"0": [0, 1]}})])
    assert vars(scored.figures[I2T]["R-Precision"]) == {"value": 1.0, "low": 1.0, "high": 1.0, "queries": 1}


def test_lists_shorter_than_the_positives_are_counted(version, rankings):
    (scored,) = evaluate_version(version, rankings=[rankings({"i2t": {"0": [0], "1": [2, 3], "2": [4]}})])
    assert [note for note in scored.notes if "2 queries have more positives" in note and "by up to 1" in note]
    assert scored.figures[I2T]["R-Precision"].value == pytest.approx((0.5 + 1 + 0.5) / 3)


def test_without_a_file_the_newest_lists_of_the_annotators_behind_the_rounds_are_scored():
    round = make_round(candidates=2)
    sample = round.pool.sample
    vsrn, clip = make_annotator("vsrn"), make_annotator("clip")
    _, newest, other = [make_retrieval(of, sample, depth=3, seed=seed) for seed, of in enumerate((vsrn, vsrn, clip))]
    round.pool.retrievals.set(Retrieval.objects.all())
    Match.objects.update(score=1)
    version = release_version("v1", collection=sample.collection, sample=sample, merge="original")
    version.rounds.add(round)
    assert [scored.model for scored in evaluate_version(version)] == ["clip", "vsrn"]
    assert Score.objects.count() == 2 * 5 * 2
    assert [run.retrieval for run in Run.objects.all()] == [other, newest]


def test_padding_of_short_lists_is_not_an_item():
    round = make_round(candidates=2)
    sample = round.pool.sample
    images = np.array(sample.images.order_by("pk").values_list("pk", flat=True))
    padded = RankedLists(images, np.zeros((len(images), 4), np.int64), np.zeros((len(images), 4), np.float32))
    stored = store_lists("retrievals/none", {I2T: padded})
    round.pool.retrievals.add(
        Retrieval.objects.create(
            annotator=make_annotator("none"), collection=sample.collection, sample=sample, depth=4,
            engine="blocked", file=stored.path, sha256=stored.sha256, seconds=0,
        )
    )  # fmt: skip
    version = release_version("v1", collection=sample.collection, sample=sample, merge="original")
    version.rounds.add(round)
    (scored,) = evaluate_version(version)
    assert scored.figures[I2T]["R@1"].value == 0.0
    assert scored.figures[I2T]["R@1"].queries == len(images)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i2t": {', "is not valid JSON"),
        ({"i2t": {"0": [0, 77]}}, "1 id of model-a.json .*: 77"),
        (
            {"i2t": {"0": [0, 1]}},
            "model-a on v1, image → captions: 2 of 3 queries have no ranking: 1, 2. Rank every query.",
        ),
        ({"i2t": {"0": [0, 0], "1": [2, 3], "2": [4, 5]}}, "The ranking of query 0 lists an item twice"),
    ],
)
def test_bad_rankings_are_refused_and_nothing_is_stored(version, rankings, content, message):
    with pytest.raises(CounterpartError, match=message):
        evaluate_version(version, rankings=[rankings(content)])
    assert not Run.objects.exists()
    assert not default_storage.exists("runs/zoo") or default_storage.listdir("runs/zoo")[1] == []


def test_a_version_without_rounds_asks_for_rankings(version):
    with pytest.raises(CounterpartError, match="v1 has no rounds .*--rankings"):
        evaluate_version(version)


@pytest.fixture
def crowd():
    """A collection large enough for suspicions: 12 images with one caption each."""
    return make_collection("crowd", images=12, captions_each=1)


def lists_of(rows) -> dict:
    return {"t2i": {str(query): list(map(str, row)) for query, row in enumerate(rows)}}


def shuffled(seed: int = 0):
    rng = np.random.default_rng(seed)
    return [rng.permutation(12).tolist() for _ in range(12)]


def test_a_file_is_one_run_however_often_it_is_registered_with_a_name_on_one_line(crowd, rankings):
    path = rankings(lists_of(shuffled()))
    first, again = (register_file(crowd, path) for _ in range(2))
    assert first == again
    assert (first.model, first.marks) == ("model-a", {})
    for name in (" ", "x" * 81, "two\nlines"):
        with pytest.raises(CounterpartError, match="Invalid model name"):
            register_file(crowd, rankings(lists_of(shuffled())), model=name)


def test_rankings_that_no_model_gives_are_marked(crowd, rankings, tmp_path):
    perfect = [[query, *(other for other in row if other != query)] for query, row in enumerate(shuffled())]
    run = register_file(crowd, rankings(lists_of(perfect)))
    assert run.suspicions == ["every query finds its original matches first"]
    run = register_file(crowd, rankings(lists_of([range(11, -1, -1)] * 12)))
    assert run.suspicions == ["all lists are in the order of the ids"]
    lines = [f"{query} Q0 {item} 1 0.5 x" for query, row in enumerate(shuffled()) for item in row]
    (tmp_path / "flat_t2i.run").write_text("\n".join(lines))
    assert register_file(crowd, tmp_path / "flat_t2i.run").suspicions == ["all scores of a list are equal"]


def test_the_same_lists_under_another_name_are_marked_even_if_they_are_shorter(crowd, rankings):
    first = register_file(crowd, rankings(lists_of(shuffled())), model="first")
    assert first.marks == {}
    second = register_file(crowd, rankings(lists_of(row[:10] for row in shuffled())), model="second")
    assert second.suspicions == ["the same lists as another run (first)"]
    assert register_file(crowd, rankings(lists_of(shuffled(1))), model="third").marks == {}
    same = register_file(crowd, rankings(lists_of(shuffled())), model="fourth")
    assert same.suspicions[0].startswith("the same lists as another run (")


def test_a_run_is_scored_on_every_version_and_says_where_it_could_not_be(zoo, version, rankings):
    run = register_file(zoo, rankings({"i2t": {"0": [0, 1]}}))
    with pytest.raises(
        CounterpartError,
        match="Not on v1: .*: 2 of 3 queries",
    ):
        score_everywhere(open_run(run))
    few = make_sample(zoo, "few")
    few.images.set(zoo.images.filter(key="0"))
    few.captions.clear()
    release_version("v2", collection=zoo, sample=few, merge="original")
    said = score_everywhere(open_run(run))
    assert said.startswith("model-a is scored on v2. Not on v1: ")
    assert set(Score.objects.values_list("version__name", flat=True)) == {"v2"}


def test_a_new_version_is_scored_for_the_runs_that_are_registered(zoo, version, rankings):
    run = register_file(zoo, rankings({"i2t": GOOD["i2t"]}))
    few = register_file(zoo, rankings({"i2t": {"0": [0, 1]}}), model="few")
    assert unscored(version) == [run, few]
    said = score_all_runs(version)
    assert said.startswith("1 of 2 runs are scored on v1. few:")
    assert unscored(version) == [few]
