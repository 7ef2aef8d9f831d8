"""Searches whose scores are re-ranked, through the command and behind it."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from corpus.models import Collection, Match
from counterpart_topk.hubness import Matrix
from counterpart_topk.hubness.reranking import parse_steps, rerank
from mitl.annotators import load
from mitl.models import Annotator, Direction, Proposal, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.gallery import load_lists, open_gallery
from tests.commands import figures_printed, output_of
from tests.factories import make_annotator, make_collection
from tests.mitl.searches import add_embeddings, add_lists, few_queries, retrieve

I2T, T2I = Direction
ASKED = ("retrieve", "zoo", "--annotators", "theirs", "--depth", "2")
HUB = 5


@pytest.fixture
def zoo(db) -> Collection:
    return make_collection(images=6, captions_each=1)


@pytest.fixture
def theirs(zoo, tmp_path) -> Annotator:
    return embedding("theirs", with_hub(), tmp_path)


@pytest.fixture
def split(zoo) -> Collection:
    """Six more images with a caption each: the split val."""
    for number in range(6, 12):
        image = zoo.images.create(key=str(number), file_name=f"{number}.jpg", split="val")
        caption = zoo.captions.create(key=str(number), image=image, text="val")
        Match.objects.create(collection=zoo, image=image, caption=caption, source=Match.ORIGINAL)
    return zoo


def with_hub() -> np.ndarray:
    """Scores 3/4 for a pair that belongs together and 1/8 for others; but 7/8 with caption 5, the hub, which the
    image that it belongs to scores with 1."""
    scores = np.full((6, 6), 1 / 8)
    np.fill_diagonal(scores, 3 / 4)
    scores[:, HUB] = 7 / 8
    scores[HUB, HUB] = 1
    return scores


def embedding(name: str, scores: np.ndarray, folder) -> Annotator:
    """An annotator whose inner products are these scores, (images, captions)."""
    return add_embeddings(folder, np.eye(len(scores)), scores.T, name)


def keys_of(retrieval: Retrieval) -> dict[Direction, list[list[int]]]:
    """The lists, items by key."""
    zoo = retrieval.collection
    keys = {I2T: dict(zoo.captions.values_list("pk", "key")), T2I: dict(zoo.images.values_list("pk", "key"))}
    return {
        direction: [[int(keys[direction][pk]) for pk in row] for row in lists.items.tolist()]
        for direction, lists in load_lists(retrieval).items()
    }


def test_csls_takes_a_hub_from_the_top_of_the_lists(theirs):
    """By hand, with 5 neighbours: each of captions 0 to 4 has a mean of (3/4 + 4/8) / 5 = 0.25 and the hub one of
    (1 + 4 7/8) / 5 = 0.9, so that an image's own has 1.5 - 0.25 and the hub 1.75 - 0.9, each less the image's 0.4."""
    output_of(*ASKED)
    assert [row[0] for row in keys_of(Retrieval.objects.get())[I2T]] == [HUB] * 6
    out = output_of(*ASKED, "--rerank", "csls:k=5")
    assert "re-ranked by csls:k=5.\n" in out
    reranked = Retrieval.objects.get(rerank="csls:k=5")
    assert [row[0] for row in keys_of(reranked)[I2T]] == [0, 1, 2, 3, 4, 5]
    assert [row[0] for row in keys_of(reranked)[T2I]] == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(load_lists(reranked)[I2T].scores[0], [1.5 - 0.25 - 0.4, 1.75 - 0.9 - 0.4], atol=1e-6)


@pytest.mark.parametrize("steps", ["csls:k=3", "is:beta=4", "rgm:k=2", "csls:k=2,rgm:k=1:relaxation=1.5"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", ["embeddings", "pairs"])
def test_lists_are_those_of_all_scores_whoever_asks(zoo, tmp_path, kind, whole, steps):
    numbers = np.random.default_rng(7).integers(-8, 9, (6, 6)) / 8
    annotator = embedding("theirs", numbers, tmp_path) if kind == "embeddings" else make_annotator()
    gallery = open_gallery(zoo, None)
    blocks = load(annotator).scores(gallery.images, gallery.captions)
    scores = np.asarray(blocks.block(slice(0, 6), slice(0, 6)), dtype=np.float64)
    sample = None if whole else few_queries(zoo, "14", "035")
    found = keys_of(retrieve(zoo, annotators=[annotator], sample=sample, depth=4, rerank=parse_steps(steps))[0])
    asking = {I2T: slice(None) if whole else [1, 4], T2I: slice(None) if whole else [0, 3, 5]}
    for direction, similarity in ((I2T, scores), (T2I, scores.T)):
        lists, _ = rerank(Matrix(similarity), parse_steps(steps), 4)
        assert found[direction] == lists[asking[direction]].tolist()


def test_the_same_re_ranking_is_searched_once_however_it_is_written(theirs):
    first, again = (figures_printed(*ASKED, "--rerank", text) for text in ("is", "is:beta=30"))
    assert (first["theirs"]["kept"], again["theirs"]["kept"]) == (False, True)
    assert first["theirs"]["sha256"] == again["theirs"]["sha256"]
    assert again["theirs"]["rerank"] == "is:beta=30"


def test_matched_pairs_keep_their_first_places_in_a_pool(zoo, tmp_path):
    """By hand: of the matching 1 : 1, image 0 gets caption 1, as caption 0 went to image 1; by score 0 comes first.
    Its list is 1, 0, and 0 is stored with a lower score than its own."""
    scores = np.full((6, 6), 0.125)
    scores[:2, :2] = [[0.75, 0.5], [1.0, 0.25]]
    annotator = embedding("theirs", scores, tmp_path)
    sample, steps = few_queries(zoo, "0", ""), parse_steps("rgm:k=1:relaxation=1")
    (retrieval,) = retrieve(zoo, annotators=[annotator], sample=sample, depth=2, rerank=steps)
    assert keys_of(retrieval) == {I2T: [[1, 0]]}
    ((first, second),) = load_lists(retrieval)[I2T].scores.tolist()
    assert second < first == 0.5
    pool_proposals("p", collection=zoo, annotators=[annotator], sample=sample, top_k=1, control_depth=2)
    assert Proposal.objects.values_list("image__key", "caption__key", "rank", "score").get() == ("0", "1", 1, 0.5)


def test_tuning_comes_as_figures_and_again_keeps_the_search(split, tmp_path):
    embedding("theirs", np.kron(np.eye(2), with_hub()), tmp_path)
    for kept in (False, True):
        figures = figures_printed(*ASKED, "--rerank", "csls", "--tune")["theirs"]
        assert (figures["kept"], figures["rerank"]) == (kept, "csls:k=5")
        assert figures["tried"] == [
            {"rerank": "none", "recall": pytest.approx(7 / 12)},
            {"rerank": "csls:k=5", "recall": 1.0},
        ]


def test_where_no_re_ranking_helps_the_plain_search_is_stored(split, tmp_path, capsys):
    embedding("theirs", np.eye(12) + 0.125, tmp_path)
    output_of(*ASKED, "--rerank", "csls", "--tune")
    assert capsys.readouterr().err.splitlines()[-1].startswith("theirs: chosen: none")
    assert Retrieval.objects.get().rerank == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rerank", "csls", "--engine", "faiss"), "--rerank csls:k=10"),
        (("--rerank", "csls:k=7"), "^theirs: .*7"),
        (("--rerank", "csls", "--tune"), "^theirs: zoo has 0 images"),
    ],
)
def test_a_wrong_wish_ends_in_one_clear_line(theirs, arguments, message):
    with pytest.raises(CommandError, match=message) as raised:
        call_command(*ASKED, *arguments)
    assert "\n" not in str(raised.value)
    assert not Retrieval.objects.exists()


def test_an_annotator_with_ranked_lists_is_named(zoo, tmp_path):
    lists = {str(key): ["1", "2"] for key in range(6)}
    add_lists(tmp_path, lists, lists)
    with pytest.raises(CommandError, match="^theirs: it has ranked lists"):
        call_command(*ASKED, "--rerank", "rgm")
    assert not Retrieval.objects.exists()
