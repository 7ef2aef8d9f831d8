import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from counterpart_topk.hubness import Matrix
from counterpart_topk.hubness.chosen_steps import choose, variations
from counterpart_topk.hubness.reranking import parse_steps, rerank, written
from slow_hubs import slow_csls, slow_inverted_softmax, slow_matching

quarters = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9), elements=st.integers(-4, 4)
).map(lambda whole: whole / 4)


def slow_rerank(similarity: np.ndarray, text: str, depth: int) -> tuple[list[list[int]], np.ndarray]:
    """Each query's list, by the definitions, and the corrected scores."""
    steps = parse_steps(text)
    scores, matched = similarity, []
    for step in steps:
        if step.name == "csls":
            scores = slow_csls(similarity, int(step["k"]))
        elif step.name == "is":
            # Rounded, so that scores which are equal stay so.
            scores = np.round(np.log(slow_inverted_softmax(similarity, step["beta"], True)), 9)
        else:
            matched = slow_matching(scores, int(step["k"]), step["relaxation"])
    lists = []
    for i, row in enumerate(scores):
        first = [column for query, column in matched if query == i]
        rest = [j for j in sorted(range(len(row)), key=lambda j: (-row[j], j)) if j not in first]
        lists.append((first + rest)[:depth])
    return lists, scores


def test_steps_are_read_with_their_defaults_and_written_in_full():
    assert written(parse_steps("csls, rgm")) == "csls:k=10,rgm:k=10:relaxation=2"
    assert written(parse_steps("is:beta=12.5,rgm:relaxation=1.5:k=3")) == "is:beta=12.5,rgm:k=3:relaxation=1.5"
    assert written(()) == "none"


@pytest.mark.parametrize("text", ["csls:k=4", "is", "rgm:k=2", "csls,rgm", "is:beta=0.5,rgm:relaxation=3"])
def test_what_is_written_reads_back_as_the_same(text):
    steps = parse_steps(text)
    assert parse_steps(written(steps)) == steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "choose from csls, is, rgm"),
        ("csls,hungarian", "'hungarian'"),
        ("rgm,csls", "rgm must be the last"),
        ("csls,csls:k=5", "csls more than once"),
        ("csls,is", "both csls and is"),
        ("csls:beta=3", "'beta=3'; it has k=10"),
        ("rgm:relaxation=0", "relaxation .* not '0'"),
        ("csls:k=2.5", "not '2.5'"),
        ("is:beta=inf", "not 'inf'"),
        ("is:beta=warm", "not 'warm'"),
    ],
)
def test_steps_that_make_no_sense_are_refused_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as refused:
        parse_steps(text)
    assert "\n" not in str(refused.value)


@settings(deadline=None, max_examples=50)
@given(
    quarters,
    st.sampled_from(["csls:k=2", "rgm:k=3:relaxation=1", "rgm:k=1", "csls:k=1,rgm:k=2:relaxation=1.5"]),
    st.sampled_from([1, 500, 2**20]),
    st.data(),
)
def test_lists_agree_with_the_definitions_ties_included(similarity, text, memory, data):
    depth = data.draw(st.integers(1, similarity.shape[1]))
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(similarity) - 1), min_size=1))))
    items, scores = rerank(Matrix(similarity), parse_steps(text), depth, rows=rows, memory=memory)
    lists, corrected = slow_rerank(similarity, text, depth)
    assert items.tolist() == [lists[row] for row in rows]
    if "rgm" not in text:
        np.testing.assert_allclose(scores, np.take_along_axis(corrected[rows], items, 1), atol=1e-6)
    assert (np.lexsort((items, -scores), axis=1) == np.arange(depth)).all()


@pytest.mark.parametrize("text", ["is:beta=5", "is:beta=5,rgm:k=3:relaxation=1"])
def test_the_inverted_softmax_ranks_by_its_definition(text):
    similarity = np.random.default_rng(3).normal(size=(14, 23))
    items, scores = rerank(Matrix(similarity), parse_steps(text), 6, memory=4_000)
    lists, corrected = slow_rerank(similarity, text, 6)
    assert items.tolist() == lists
    if "rgm" not in text:
        np.testing.assert_allclose(scores, np.take_along_axis(corrected, items, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("text", ["csls:k=3", "is", "rgm:k=2", "csls:k=3,rgm:k=2"])
def test_a_list_does_not_depend_on_who_else_is_asked(text):
    similarity = np.random.default_rng(3).normal(size=(12, 20))
    everyone, _ = rerank(Matrix(similarity), parse_steps(text), 7)
    some, _ = rerank(Matrix(similarity), parse_steps(text), 7, rows=np.array([2, 9]))
    np.testing.assert_array_equal(some, everyone[[2, 9]])


def test_items_that_were_not_matched_score_below_the_matched_ones():
    """By hand: image 0 is matched with item 1 (0.5), as item 0 goes to image 1; its others, 0.75 and 0.25, stay 0.5
    apart and end below 0.5."""
    similarity = np.array([[0.75, 0.5, 0.25], [1.0, 0.25, 0.125]])
    items, scores = rerank(Matrix(similarity), parse_steps("rgm:k=1:relaxation=1"), 3)
    assert items.tolist() == [[1, 0, 2], [0, 1, 2]]
    assert scores[1].tolist() == [1.0, 0.25, 0.125]
    assert scores[0, 1] < scores[0, 0] == 0.5
    np.testing.assert_allclose(scores[0], [0.5, 0.5, 0.0], atol=1e-6)


def test_lists_longer_than_the_gallery_are_refused():
    with pytest.raises(ValueError, match="1 to 4 items"):
        rerank(Matrix(np.eye(4)), (), 5)


def test_variations_are_all_beginnings_with_all_settings_that_fit():
    tried = [written(steps) for steps in variations(parse_steps("csls,rgm"), (12, 60))]
    assert tried[:4] == ["none", "csls:k=5", "csls:k=10", "csls:k=5,rgm:k=5:relaxation=1"]
    assert len(tried) == len(set(tried)) == 1 + 2 + 2 * 10


def hub_in_the_way() -> np.ndarray:
    """The diagonal is right; column 0 is the best of every row, by little."""
    similarity = np.eye(6) * 0.5
    similarity[:, 0] += 0.6
    return similarity


def test_the_steps_that_find_most_are_chosen():
    candidates = [(), parse_steps("csls:k=3")]
    choice = choose(Matrix(hub_in_the_way()), np.stack([np.arange(6)] * 2, 1), candidates)
    assert written(choice.best.steps) == "csls:k=3"
    # Rows find only the first without it; all columns but the first find their row either way.
    plain, corrected = choice.trials
    assert (plain.row_recall, plain.column_recall) == (1 / 6, 1)
    assert (corrected.row_recall, corrected.column_recall) == (1, 1)
    assert str(plain) == "none: R@1 58.33"


def test_of_equally_good_ones_the_simplest_is_chosen():
    candidates = [parse_steps("csls:k=2,rgm:k=2"), parse_steps("csls:k=2"), parse_steps("csls:k=1"), ()]
    pairs = np.stack([np.arange(6)] * 2, 1)
    assert choose(Matrix(np.eye(6)), pairs, candidates).best.steps == ()
    assert written(choose(Matrix(np.eye(6)), pairs, candidates[:3]).best.steps) == "csls:k=2"


def test_queries_without_a_known_answer_do_not_count():
    choice = choose(Matrix(np.eye(4)), np.array([[1, 1], [1, 2]]), [()])
    assert (choice.best.row_recall, choice.best.column_recall) == (1, 0.5)
