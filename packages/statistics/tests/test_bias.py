import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from counterpart_metrics import METRICS, Qrels, Rankings, find, r_precision, recall_at_k
from counterpart_statistics.bias import SubsetScores, bias_by_size, leave_one_out, model_bias, subset_scores, subsets_of


def table_e1a(shared: Path) -> dict[str, list[float]]:
    """Table E.1a of ECCV Caption: annotator → its scores on the pairs of PVSE, VSRN, PCME, ViLT, CLIP, and All."""
    (file,) = (shared / "seeds").glob("002*.txt")
    text = file.read_text().split("(a) Text-to-Image Recall@1.")[0]
    rows = re.findall(r"^(PVSE|VSRN|PCME|ViLT|CLIP)((?: \d+\.\d){6})$", text, re.MULTILINE)
    return {name: [float(figure) for figure in figures.split()] for name, figures in rows[-5:]}


@pytest.mark.shared
def test_bias_of_pvse_is_that_of_table_e1a(shared):
    table = table_e1a(shared)
    on_pvse, on_all = ({name: row[column] for name, row in table.items()} for column in (0, 5))
    assert model_bias(on_pvse, on_all) == pytest.approx(9.48)
    assert model_bias(list(on_pvse.values()), list(on_all.values())) == pytest.approx(9.48)


@pytest.mark.shared
def test_self_bias_and_non_self_bias_of_pvse_are_those_of_appendix_e(shared):
    table = table_e1a(shared)
    names = tuple(table)
    members = np.array([[name == "PVSE" for name in names], [True] * 5])
    columns = np.array([[row[0] for row in table.values()], [row[5] for row in table.values()]])
    alone = bias_by_size(SubsetScores(names, members, columns))[0]
    assert alone.self_bias == pytest.approx(0.1)
    assert round(alone.non_self_bias, 1) == 11.8
    assert alone.bias == pytest.approx(9.48)


RANKINGS = {  # two queries, items 1 to 4
    "a": {7: [1, 2, 3], 8: [3, 1, 2]},
    "b": {7: [2, 4, 1], 8: [1, 4, 3]},
    "c": {7: [4, 3, 2], 8: [2, 3, 4]},
}
PROPOSED = {(7, 1): "a", (7, 2): "ab", (7, 4): "bc", (8, 1): "b", (8, 2): "c", (8, 3): "a"}
MATCHES = {(7, 1), (7, 4), (8, 1)}


def small_case():
    pairs = sorted(PROPOSED)
    gains = [float(pair in MATCHES) for pair in pairs]
    qrels = Qrels.of_pairs([q for q, _ in pairs], [i for _, i in pairs], gains)
    proposed = np.array([[name in PROPOSED[pair] for name in RANKINGS] for pair in pairs])
    return {name: find(Rankings.of(lists), qrels) for name, lists in RANKINGS.items()}, proposed, qrels


def test_subset_scores_of_a_small_case_by_hand():
    found, proposed, _ = small_case()
    scores = subset_scores(found, proposed, METRICS["R@1"])
    # a's pairs: one match, (7, 1). b's: (7, 4) and (8, 1). c's: (7, 4).
    assert scores.of(["a"]).tolist() == [0.5, 0, 0]
    assert scores.of(["b"]).tolist() == [0, 0.5, 0.5]
    assert scores.of(["c"]).tolist() == [0, 0, 0.5]
    assert scores.of(["a", "b"]).tolist() == scores.of(["a", "b", "c"]).tolist() == [0.5, 0.5, 0.5]
    by_size = bias_by_size(scores)
    # B_a = (0 + .5 + .5) / 3, B_b = (.5 + 0 + 0) / 3, B_c = (.5 + .5 + 0) / 3
    assert by_size[0].bias == pytest.approx((1 / 3 + 1 / 6 + 1 / 3) / 3)
    assert by_size[0].self_bias == 0
    assert by_size[0].non_self_bias == pytest.approx((0.5 + 0.25 + 0.5) / 3)
    assert by_size[1].subsets == 3
    assert by_size[2].bias == 0
    assert np.isnan(by_size[2].non_self_bias)


def test_queries_without_positives_count_as_zero_or_are_skipped():
    found, proposed, _ = small_case()
    skipped = subset_scores(found, proposed, METRICS["R@1"], without_positives="skip")
    assert skipped.of(["a"]).tolist() == [1, 0, 0]


def slow_score(name, metric, subset, rng_pairs, gains):
    """The definition, query by query, with the functions for one ranking."""
    rankings, proposed, queries = rng_pairs
    total = 0.0
    for query in queries:
        positives = {
            item for (asked, item), by in proposed.items() if asked == query and by & subset and gains[asked, item] > 0
        }
        total += metric(rankings[name][query], positives) if positives else 0.0
    return total / len(queries)


def test_all_subsets_agree_with_the_definition():
    rng = np.random.default_rng(3)
    names, queries = list("wxyz"), list(range(20))
    rankings = {name: {q: rng.permutation(30).tolist() for q in queries} for name in names}
    proposed: dict = {}
    for name, lists in rankings.items():
        for query, items in lists.items():
            for item in items[:5]:
                proposed.setdefault((query, item), set()).add(name)
    gains = {pair: rng.choice([0.0, 0.5, 1.0]) for pair in proposed}
    pairs = sorted(proposed)
    qrels = Qrels.of_pairs([q for q, _ in pairs], [i for _, i in pairs], [gains[p] for p in pairs], every=queries)
    flags = np.array([[name in proposed[pair] for name in names] for pair in pairs])
    found = {name: find(Rankings.of(lists), qrels) for name, lists in rankings.items()}
    subsets = [set(one) for size in range(1, 5) for one in combinations(names, size)]
    for metric, slow in (("R@1", recall_at_k), ("R-Precision", r_precision)):
        scores = subset_scores(found, flags, METRICS[metric])
        assert len(scores.members) == len(subsets) == 15
        for subset, members, row in zip(subsets, scores.members, scores.scores, strict=True):
            assert {name for name, inside in zip(names, members, strict=True) if inside} == subset
            expected = [slow_score(name, slow, subset, (rankings, proposed, queries), gains) for name in names]
            np.testing.assert_allclose(row, expected, atol=1e-12)


def test_leaving_an_annotator_out_shows_what_it_alone_contributed():
    found, proposed, qrels = small_case()
    left_out = leave_one_out(subset_scores(found, proposed, METRICS["R@1"]), proposed, qrels.matches)
    a, b, c = left_out
    assert (a.matches, a.unique, a.before, a.after, a.rank_before, a.rank_after) == (1, 1, 0.5, 0, 1, 3)
    assert (b.matches, b.unique, b.after) == (2, 1, 0)
    assert (c.matches, c.unique, c.bias) == (1, 0, 0)


def test_distances_can_be_measured_from_known_true_scores():
    found, proposed, _ = small_case()
    scores = subset_scores(found, proposed, METRICS["R@1"])
    assert bias_by_size(scores, [0.5, 0.5, 1.0])[-1].bias == pytest.approx(1 / 6)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_every_subset_occurs_once_smaller_ones_first_and_all_last(n):
    members = subsets_of(n)
    assert len({tuple(row) for row in members.tolist()}) == len(members) == 2**n - 1
    assert (np.diff(members.sum(axis=1)) >= 0).all()
    assert members[-1].all()
    np.testing.assert_array_equal(members[:n], np.eye(n, dtype=bool))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model_bias({"a": 1.0}, {"b": 1.0}), "2 annotators have only one of two scores: a, b"),
        (lambda: model_bias({"a": 1.0}, [1.0]), "the same form"),
        (lambda: model_bias([1.0], [1.0, 2.0]), "one score an annotator"),
        (lambda: model_bias([], []), "one score an annotator"),
        (lambda: subsets_of(13), "The subsets of 13 annotators"),
        (lambda: subset_scores(*small_case()[:1], np.ones((6, 2), bool), METRICS["R@1"]), "Proposals of 2"),
        (lambda: SubsetScores(("a",), np.ones((1, 1), bool), np.ones((1, 1))).of(["b"]), "subset of annotators .'b'"),
        (
            lambda: leave_one_out(
                SubsetScores(("a",), np.ones((1, 1), bool), np.ones((1, 1))), np.ones((1, 1), bool), np.ones(1, bool)
            ),
            "two or more",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
