"""What packing and the pages count is named by the type of task."""

import pytest

from hits.rounds.packed_rounds import OF_PAIRS, figures_of
from tests.annotation.task_types.rounds import draft_of

pytestmark = pytest.mark.django_db

NAMES = {"determinate": "sentences", "caption": "pictures", "preference": "questions"}


@pytest.mark.parametrize("task", NAMES)
def test_what_is_counted_has_the_tasks_own_word_without_pairs_and_controls(task):
    made = draft_of(task)
    figures = figures_of(made)
    assert figures[NAMES[task]] == made.summary["pairs"]
    assert not figures.keys() & {"pairs", *OF_PAIRS}
    assert {"round", "hits", "seats", "reward", "cost_browser", "ceiling", "plan_hash"} <= figures.keys()


@pytest.mark.parametrize("task", ["checkbox", "expert"])
def test_a_round_about_pairs_counts_pairs_and_controls(task):
    figures = figures_of(draft_of(task))
    assert {"pairs", *OF_PAIRS} <= figures.keys()
    assert figures["positives"] > 0
