"""A message to all workers of a round: it is sent only after their number was shown."""

import pytest

from annotation.models import WorkerIdentity
from crowd.models import Message, Outbox
from hits.models import Round
from tests.annotation.money.moneyed import accepted, posted

WORDS = {"subject": "Thank you", "text": "Your notes helped."}


@pytest.fixture
def there(platform, db) -> Round:
    """A round on a platform with the work of two people."""
    made = posted(hits=2)
    for name in ("A1", "A2"):
        worker = accepted(made).worker
        WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=name)
    return made


def send(client, made: Round, **fields: str):
    return client.post(f"/rounds/{made}/write/", WORDS | fields, follow=True)


def test_the_number_of_workers_is_shown_before_anybody_is_written_to(researcher, there):
    page = send(researcher, there)
    assert "2 workers" in page.text
    assert "Your notes helped." in page.text
    assert all(worker.pseudonym in page.text for worker in page.context["recipients"])
    assert not Message.objects.exists()


def test_a_confirmed_message_goes_to_everybody_once(researcher, there):
    assert "is being sent to 2 workers" in send(researcher, there, confirmed="2").text
    assert (Message.objects.count(), Outbox.objects.filter(call="message").count()) == (2, 1)
    again = send(researcher, there, confirmed="2")
    assert (again.status_code, "a moment ago" in again.text) == (422, True)
    assert Message.objects.count() == 2


def test_a_number_that_has_changed_is_shown_again(researcher, there):
    page = send(researcher, there, confirmed="1")
    assert (page.status_code, "has changed since" in page.text) == (422, True)
    assert not Message.objects.exists()


def test_the_message_can_be_changed_before_it_is_sent(researcher, there):
    page = send(researcher, there, change="yes", confirmed="2")
    assert 'value="Thank you"' in page.text
    assert "notes helped.</textarea>" in page.text
    assert not Message.objects.exists()
