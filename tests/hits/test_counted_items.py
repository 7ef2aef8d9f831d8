"""What packing and the pages count is named by the type of task."""

import re

import pytest
from django.urls import reverse

from hits.rounds.packed_rounds import OF_PAIRS, figures_of
from tests.annotation.task_types.rounds import draft_of

pytestmark = pytest.mark.django_db

NAMES = {"determinate": "sentences", "caption": "pictures", "preference": "questions"}


@pytest.mark.parametrize("task", NAMES)
def test_what_is_counted_has_the_tasks_own_word_and_nothing_is_told_of_pairs_and_controls(task):
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


def test_the_pages_before_publishing_use_the_same_word(researcher):
    made = draft_of("caption")
    publish = researcher.get(reverse("round_publish", args=[made.name])).text
    assert f"<dt>Pictures</dt><dd>{made.summary['pairs']}</dd>" in publish
    assert "positive, 0 negative" not in publish
    hit = researcher.get(reverse("hit", args=[made.name, 1])).text
    assert re.search(r"<h2>\d+ pictures</h2>", hit)
