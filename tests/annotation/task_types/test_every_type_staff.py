"""The pages of staff open for a round of every type of task."""

import pytest
from django.test import Client

from annotation.models import Assignment
from tests.annotation.answering import address, leased
from tests.annotation.task_types.rounds import EVERY_TYPE, form_of, open_round

OF_ROUND = ("", "hits/", "hits/1/", "money/", "pairs/", "results/", "live/", "close/")


@pytest.mark.parametrize("task", EVERY_TYPE)
def test_the_pages_of_staff_open(researcher, db, task):
    made = open_round(task)
    work = leased(made)
    assert Client().post(address("task", work), form_of(work)).status_code == 302
    pages = [f"/rounds/{made}/{page}" for page in OF_ROUND]
    pages += [f"/review/{work.pk}/", f"/workers/{work.worker.pseudonym}/"]
    pages += ["/inbox/", "/rounds/", "/"]
    assert {page: researcher.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)
    assert Assignment.objects.get().receipt
