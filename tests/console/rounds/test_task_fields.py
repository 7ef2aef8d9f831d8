"""The forms of a plan and of HITs show the fields of the chosen type of task, and no others."""

from urllib.parse import parse_qs, urlsplit

import pytest

from console.rounds.forms import OPTIONS, PackForm, PlanForm
from core.models import Job
from core.parameters import values_of
from hits.rounds.round_parameters import RoundParameters, unused_by
from hits.task_types import TASK_TYPES
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


def test_the_page_words_every_value_that_a_parameter_takes():
    declared = RoundParameters.form_fields()
    assert {name: {*values_of(declared[name])} for name in OPTIONS} == {
        name: {*words} for name, words in OPTIONS.items()
    }


def fields_of(page) -> set[str]:
    return {name for name in OF_SOME if f'name="{name}"' in page.text}


@pytest.fixture
def pages(researcher, db) -> list[str]:
    make_annotator()
    make_pool(make_sample(make_collection(images=8)), name="some-pool")
    return ["/plan/", "/pools/some-pool/pack/"]


def test_the_fields_of_the_chosen_type_of_task_are_asked_and_answers_to_others_are_dropped(researcher, pages):
    for path in pages:
        assert fields_of(researcher.get(f"{path}?step=judging")) == {"design", "reasons", "top_up", *AUDIT}
        sent = {"task": "preference", "design": "eccv-20", "reward": "1.75", "step": "judging", "go": "show"}
        answer = researcher.post(path, sent)
        assert parse_qs(urlsplit(answer.url).query) == {
            "task": ["preference"], "reward": ["1.75"], "step": ["judging"],
        }  # fmt: skip
        assert fields_of(researcher.get(answer.url)) == {"positives"}
    assert not Job.objects.exists()
