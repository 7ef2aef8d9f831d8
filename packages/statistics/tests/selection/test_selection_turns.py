"""The replays of several turns: what the next pool holds, and what verified matches teach."""

import numpy as np
import pytest

from benchmarks.estimation.beds import World
from benchmarks.selection.turns import first_places, pooled_beyond, taught

CAPTIONS = np.repeat(np.eye(4, dtype=np.float32), 5, axis=0)  # each of four images has five captions of one topic
FREE = [set(range(5))]


def test_the_next_pool_holds_the_first_items_of_each_list_that_no_label_is_known_of():
    scores = np.arange(12, dtype=np.float32)[None, ::-1]
    lists = {"falling": first_places(scores, 9), "rising": first_places(-scores, 9)}
    bed = pooled_beyond(lists, [{0: True, 1: False, 11: True}], [{0, 2, 10}], np.zeros(1, int))
    assert bed.items[0].tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert bed.gains[0].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert bed.ranks[0, 0, :5].tolist() == [3, 4, 5, 6, 7]
    assert bed.scores[1, 0, -1] == -scores[0, 10]
    assert bed.asked.all()


@pytest.mark.parametrize(("answer", "sign"), [(True, 1), (False, -1)])
def test_a_judged_caption_moves_its_image_towards_its_topic_or_away(answer, sign):
    """Caption 5, of the second image, is judged for the first: captions 6 to 9 are like it, 10 to 19 are not."""
    world = World("tiny", True, np.array([0]), {}, [{0, 5}], FREE)
    found = taught(CAPTIONS, world, [dict.fromkeys(range(5), True) | {5: answer}])[0]
    assert (sign * (found[6:10] - found[10]) > 0).all()
    assert found[10:] == pytest.approx(found[10])


def test_own_captions_teach_nothing():
    world = World("tiny", True, np.array([0]), {}, [{0}], FREE)
    rows = [taught(CAPTIONS, world, [dict.fromkeys(range(count), True)]) for count in (1, 5)]
    assert rows[0] == pytest.approx(rows[1])
