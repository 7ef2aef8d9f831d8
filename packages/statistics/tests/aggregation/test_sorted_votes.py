import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.aggregation import aggregate, full_conclusion, sorted_votes, spooled_rows
from counterpart_statistics.aggregation.sorted_votes import VOTE, read_votes, sort_votes
from counterpart_statistics.aggregation.votes import Votes
from crowds import as_votes, draw_crowd

KINDS = np.array([[True, True, True, True], [True, True, False, False]])


@pytest.fixture
def small_batches(monkeypatch):
    """Parts of about 60 votes, batches of about 20, and all of it on disk."""
    monkeypatch.setattr(sorted_votes, "PART", 60)
    monkeypatch.setattr(sorted_votes, "BATCH", 20)
    monkeypatch.setattr(spooled_rows, "IN_MEMORY", 100)


def judged() -> pd.DataFrame:
    labels, truth = draw_crowd([0.9, 0.8, 0.6, 0.4, 0.3], items=60, each=3)
    votes = as_votes(labels)
    return votes.assign(control=np.where(labels["item"] % 7 == 0, "positive", ""))


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "ordinal", "mace"])
def test_the_size_of_the_batches_changes_no_bit(method, request):
    at_once = full_conclusion(judged(), method=method)
    request.getfixturevalue("small_batches")
    in_batches = full_conclusion(judged(), method=method)
    assert in_batches.verdicts.equals(at_once.verdicts)
    assert in_batches.workers.astype(str).equals(at_once.workers.astype(str))


def collected(chunks: list[list[tuple[int, int, int]]], *, workers: str = "abc", total: int = 6) -> Votes:
    return sort_votes(
        [np.array([(*vote, 10 * vote[1]) for vote in chunk], VOTE) for chunk in chunks],
        total=total,
        codes=100,
        workers=pd.Index(list(workers)),
        levels=(1, 2, 3, 4),
        kinds=KINDS,
        kind_of=lambda codes: (codes == 7).astype(int),
    )


def said(votes: Votes) -> set[tuple[int, str, int]]:
    """(code of the item, name of the worker, level) of every vote; each has the set of its worker."""
    found = set()
    for batch in votes.batches():
        assert [10 * "abc".index(name) for name in votes.worker_names[batch.workers]] == batch.sets.tolist()
        codes, names = batch.rows["code"][batch.items], votes.worker_names[batch.workers]
        found |= set(zip(codes.tolist(), names, (batch.labels + 1).tolist(), strict=True))
    return found


def test_votes_of_all_chunks_are_sorted_by_item_whatever_their_order(small_batches):
    votes = collected([[(50, 0, 3), (7, 1, 0)], [], [(50, 1, 2), (99, 2, 1), (7, 0, 0)]], total=600)
    assert said(votes) == {(50, "a", 4), (7, "b", 1), (50, "b", 3), (99, "c", 2), (7, "a", 1)}
    assert votes.items.read()["code"].tolist() == [7, 50, 99]
    assert votes.items.read()["votes"].tolist() == [2, 2, 1]
    assert votes.whole.is_gold.tolist() == [True, False, False]
    assert votes.candidates == 2


def test_workers_without_a_vote_are_left_out():
    votes = collected([[(1, 2, 0)]])
    assert votes.worker_names.tolist() == ["c"]
    assert votes.given.tolist() == [[1, 0, 0, 0]]


def test_a_vote_that_is_repeated_in_another_chunk_is_refused():
    with pytest.raises(ValueError, match="1 labels repeat"):
        collected([[(1, 0, 0), (2, 0, 0)], [(1, 0, 3)]])


def test_no_votes_are_no_batch():
    votes = collected([], total=0)
    assert list(votes.batches()) == []
    assert len(votes.worker_names) == 0


def test_an_item_of_more_votes_than_a_batch_stays_whole(small_batches):
    labels = pd.DataFrame({"item": [0] * 50 + [1], "worker": [*range(50), 0], "label": 1})
    assert [len(batch.workers) for batch in read_votes(labels).batches()] == [50, 1]


def test_sums_over_batches_equal_sums_by_loops(small_batches):
    labels, _ = draw_crowd([0.9, 0.5, 0.4], items=30)
    votes = read_votes(labels, gold={3: (1, 2)})
    estimate = votes.begin()
    shares = aggregate(labels).to_numpy().copy()
    shares[3] = votes.whole.start[3]
    expected = np.zeros((3, 4, 4))
    for vote in labels.itertuples():
        expected[votes.worker_names.get_loc(vote.worker), vote.label - 1] += shares[vote.item]
    assert np.allclose(estimate.by_worker, expected)
    assert np.allclose(estimate.by_kind, [shares.sum(axis=0) - shares[3], shares[3]])
