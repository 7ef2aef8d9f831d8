import numpy as np
import pytest

from counterpart_topk import bidirectional_topk_of_scores, topk_of_scores
from slow_topk import slow_topk


@pytest.mark.parametrize(("memory", "shape"), [(5_000, (23, 37)), (20_000, (71, 106)), (2**20, (213, 317))])
def test_scores_computed_block_by_block_give_the_same(memory, shape):
    scores = np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32) * -(0.0 ** np.arange(shape[1]))
    scores += np.random.default_rng(1).integers(-2, 3, scores.shape)
    by_row, by_column = bidirectional_topk_of_scores(lambda r, c: scores[r, c], scores.shape, 16, memory=memory)
    np.testing.assert_array_equal(by_row.places, slow_topk(scores, 16))
    np.testing.assert_array_equal(by_column.places, slow_topk(scores.T, 16))
    np.testing.assert_array_equal(by_row.scores, np.take_along_axis(scores, by_row.places, 1))
    one_way, _ = topk_of_scores(lambda r, c: scores[r, c], scores.shape, 16, memory=memory)
    np.testing.assert_array_equal(one_way, by_row.places)


def test_every_block_of_scores_is_computed_once():
    asked = np.zeros((71, 106), int)

    def score(rows, columns):
        asked[rows, columns] += 1
        return np.zeros((rows.stop - rows.start, columns.stop - columns.start))

    bidirectional_topk_of_scores(score, asked.shape, 5, memory=20_000)
    assert (asked == 1).all()


@pytest.mark.parametrize(
    ("block", "message"),
    [(np.full((2, 3), np.nan), "2 rows of scores hold NaN"), (np.zeros((3, 2)), r"shape \(3, 2\)")],
)
def test_blocks_that_are_no_scores_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        topk_of_scores(lambda rows, columns: block, (2, 3), 1)
