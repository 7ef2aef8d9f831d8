import json

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Match
from dataset.release import release_version
from evaluation.models import Run, Score
from evaluation.runs import evaluate_version
from mitl.models import Direction, Retrieval
from mitl.search.gallery import RankedLists, store_lists
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
    (scored,) = evaluate_version(version, rankings=rankings({"i2t": GOOD["i2t"]}))
    means = {metric: mean.value for metric, mean in scored.scores[I2T].items()}
    # Image 0: all right. Image 1: first right, second wrong. Image 2: nothing.
    assert means == pytest.approx({"R@1": 2 / 3, "R-Precision": 1.5 / 3, "mAP@R": 1.5 / 3})
    assert T2I not in scored.scores


def test_runs_and_scores_are_stored(version, rankings):
    path = rankings({**GOOD, "t2i": {str(caption): [caption // 2] for caption in range(6)}})
    evaluate_version(version, rankings=path)
    run = Run.objects.get()
    assert (run.model, run.version, len(run.sha256)) == ("model-a", version, 64)
    assert Score.objects.get(metric="R@1", direction="t2i").value == 1.0
    assert Score.objects.get(metric="mAP@R", direction="i2t").queries == 3


def test_scoring_again_replaces_the_runs_own_scores(version, rankings):
    for _ in range(2):
        evaluate_version(version, rankings=rankings({"i2t": GOOD["i2t"]}))
    assert (Run.objects.count(), Score.objects.count()) == (1, 3)


def test_queries_without_positives_are_left_out(zoo, rankings):
    Match.objects.exclude(image__key="0").delete()
    version = release_version("v2", collection=zoo, sample=make_sample(zoo), merge="original")
    (scored,) = evaluate_version(version, rankings=rankings({"i2t": {"0": [0, 1]}}))
    assert scored.scores[I2T]["R-Precision"] == (1.0, 1)


def test_lists_shorter_than_the_positives_are_counted(version, rankings):
    (scored,) = evaluate_version(version, rankings=rankings({"i2t": {"0": [0], "1": [2, 3], "2": [4]}}))
    assert scored.cut_off == {I2T: 2}
    assert scored.scores[I2T]["R-Precision"].value == pytest.approx((0.5 + 1 + 0.5) / 3)


def test_without_a_file_the_machines_behind_the_rounds_are_scored():
    round = make_round(candidates=2)
    sample = round.pool.sample
    round.pool.retrievals.set(
        [make_retrieval(make_annotator(name), sample, depth=3, seed=seed) for seed, name in enumerate(("vsrn", "clip"))]
    )
    Match.objects.update(score=1)
    version = release_version("v1", collection=sample.collection, sample=sample, merge="original")
    version.rounds.add(round)
    assert [scored.model for scored in evaluate_version(version)] == ["clip", "vsrn"]
    assert Score.objects.count() == 12


def test_padding_of_short_lists_is_no_item():
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
    assert scored.scores[I2T]["R@1"] == (0.0, len(images))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i2t": {', "is not valid JSON"),
        ([], 'has neither "i2t" nor "t2i"'),
        ({"top": {}}, 'has neither "i2t" nor "t2i"'),
        ({"i2t": [1]}, '"i2t" of .* is not an object of query'),
        ({"i2t": {"0": 1}}, '"i2t" of .* is not an object of query'),
        ({"i2t": {"9": [0]}}, "1 ids of .* are not in the collection: 9"),
        ({"i2t": {"0": [0, 77]}}, "1 ids of .* are not in the collection: 77"),
        ({"i2t": {"0": [0, 1]}}, "2 of 3 queries image → captions have no ranking by model-a"),
        ({"i2t": {"0": [0, 0], "1": [2, 3], "2": [4, 5]}}, "lists an item twice"),
    ],
)
def test_bad_rankings_are_refused_and_nothing_is_stored(version, rankings, content, message):
    with pytest.raises(CounterpartError, match=message):
        evaluate_version(version, rankings=rankings(content))
    assert not Run.objects.exists()


def test_a_missing_file_is_named(version, tmp_path):
    with pytest.raises(CounterpartError, match="Cannot read the rankings .*gone.json"):
        evaluate_version(version, rankings=tmp_path / "gone.json")


def test_a_version_without_rounds_asks_for_rankings(version):
    with pytest.raises(CounterpartError, match="v1 has no rounds and therefore no annotators. Pass --rankings FILE"):
        evaluate_version(version)
