"""A job asks at each of its runs whether who asked for it still may; what no account asked for is the operator's."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from console.api.access_tokens import make_token, revoke_token
from console.people.staff import set_roles
from core.models import Job
from core.work.jobs import open_job, resend_stale_jobs
from integrations.models import Token
from tests.core.farm import State, age, count_once, state_of

pytestmark = pytest.mark.usefixtures("sent")


@pytest.fixture
def author(db) -> User:
    """A researcher, calling with a token."""
    made = User.objects.create_user("ana")
    made.groups.add(Group.objects.get(name="researcher"))
    token, _ = make_token(made, "night job", ["rounds:spend"])
    made.asks_with = {"token": token.pk, "scope": "rounds:spend"}
    return made


@pytest.fixture
def job(author) -> Job:
    return open_job("Count the sheep", count_once.name, {"sheep": 3}, by=author)


def lose_role(author: User) -> None:
    set_roles(author, [], by=User.objects.create_superuser("root"))


def expire(author: User) -> None:
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


LOST = {
    "The role of ana no longer allows this": lose_role,
    "The account ana is deactivated": lambda author: User.objects.filter(pk=author.pk).update(is_active=False),
    "The account ana was removed": lambda author: author.delete(),
    "The token night job (cp_…) is revoked": lambda author: revoke_token(Token.objects.get(), by=author),
    "The token night job (cp_…) is expired": expire,
    "The token night job (cp_…) no longer has the scope rounds:spend": lambda _: Token.objects.update(scopes=[]),
    "The token that asked for this was removed": lambda _: Token.objects.all().delete(),
}


def message_of(job: Job) -> str:
    """The message of a job, without the identifier of its token."""
    job.refresh_from_db()
    found = Token.objects.first()
    return job.message.replace(found.identifier, "") if found else job.message


@pytest.mark.parametrize("reason", LOST)
def test_a_job_whose_author_may_not_ask_for_it_any_more_fails_with_the_reason(job, author, reason):
    LOST[reason](author)
    count_once(str(job.pk))
    assert state_of(job) == State.FAILED
    assert message_of(job) == f"{reason}, so this job stopped. A person who may do it has to start it again."


def test_a_job_that_is_sent_again_is_asked_again(job, author, commit):
    age(job, state=State.RUNNING)
    lose_role(author)
    with commit(execute=True):
        assert resend_stale_jobs() == 1
    count_once(str(job.pk))
    assert state_of(job) == State.FAILED


@pytest.mark.parametrize("whose", ["a token's", "a person's", "the operator's"])
def test_a_job_whose_author_still_may_or_that_is_the_operators_is_done(author, whose):
    if whose == "a person's":
        del author.asks_with
        Token.objects.all().delete()
    job = open_job("Count the sheep", count_once.name, {"sheep": 3}, by=None if whose == "the operator's" else author)
    count_once(str(job.pk))
    assert (state_of(job), job.message) == (State.DONE, "3 sheep.")
