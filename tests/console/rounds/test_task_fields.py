"""The forms of a plan and of HITs show the fields of the chosen type of task, and no others."""

import pytest

from console.rounds.forms import PackForm, PlanForm
from core.models import Job
from hits.round_parameters import unused_by
from hits.task_types import TASK_TYPES
from tests.console.rounds.test_rounds import ORDER
from tests.factories import make_annotator, make_collection, make_pool, make_sample

AUDIT = {"judge", "audit_share"}
OF_SOME = {"design", "positives", "reasons", "top_up", *AUDIT}


@pytest.mark.parametrize(
    ("task", "shown"),
    [
        ("levels", {"design", "reasons", "top_up", *AUDIT}),
        ("expert", {"design", "top_up", *AUDIT}),
        ("checkbox", set()),
        ("determinate", set()),
        ("preference", {"positives"}),
        ("caption", set()),
    ],
)
def test_each_type_of_task_has_its_fields(db, task, shown):
    assert OF_SOME - unused_by(TASK_TYPES[task]) == shown
    for form in (PlanForm(initial={"task": task}), PackForm(initial={"task": task})):
        assert OF_SOME & form.fields.keys() == shown


def fields_of(page) -> set[str]:
    return {name for name in OF_SOME if f'name="{name}"' in page.text}


@pytest.fixture
def pages(researcher, db) -> list[str]:
    make_annotator()
    make_pool(make_sample(make_collection(images=8)), name="some-pool")
    return ["/plan/", "/pools/some-pool/pack/"]


def test_choosing_a_type_of_task_shows_its_fields_and_keeps_what_was_entered(researcher, pages):
    for path in pages:
        assert fields_of(researcher.get(path)) == {"design", "reasons", "top_up", *AUDIT}
        sent = {"task": "preference", "round": "mine", "reward": "1.75", "annotators": ["overlap"], "choose": "yes"}
        page = researcher.post(path, sent)
        assert (page.status_code, fields_of(page)) == (200, {"positives"})
        assert 'value="mine"' in page.text
        assert 'value="1.75"' in page.text
        assert "errorlist" not in page.text
    assert 'value="overlap" id="id_annotators_0" checked' in researcher.post("/plan/", sent).text
    assert not Job.objects.exists()


def test_a_plan_without_the_fields_of_other_types_is_valid(researcher, pages):
    sent = ORDER | {"task": "determinate", "collection": "zoo", "annotators": ["overlap"], "images": "1"}
    sent = {name: value for name, value in sent.items() if name not in OF_SOME}
    page = researcher.post("/plan/", sent | {"estimate": "yes"})
    assert (page.status_code, "Estimate</h2>" in page.text) == (200, True)
    assert fields_of(page) == set()


def test_the_settings_of_the_search_are_folded_away_until_one_is_refused(researcher, pages):
    assert '<details class="card">' in researcher.get("/plan/").text
    assert '<details class="card" open>' in researcher.post("/plan/", {"task": "levels"}).text
