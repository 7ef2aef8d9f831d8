"""The postings of a round stay longer on the platform, against the emulator."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from core.models import Event
from crowd.models import Outbox, Posting
from tests.commands import figures_printed
from tests.crowd.platform import published, sync


def expiry_there(rehearsal, hit_id):
    return rehearsal.world.call("GetHIT", {"HITId": hit_id})["HIT"]["Expiration"]


def test_hits_stay_on_the_platform_for_as_long_as_asked(rehearsal, commit):
    made = published(hits=2, commit=commit)
    figures = figures_printed("prolong", made.name, "--days", "20")
    assert (figures["postings"], figures["answer sets open in them"], figures["set aside again"]) == (2, 2, "0.00")
    assert set(Posting.objects.values_list("expires_at", flat=True)) == {
        expiry_there(rehearsal, hit) for hit in rehearsal.hits()
    }
    assert Posting.objects.first().expires_at > timezone.now() + timedelta(days=19, hours=23)
    assert Event.objects.filter(verb="prolonged", actor="prolong").count() == 1
    assert figures_printed("prolong", made.name, "--days", "20")["postings"] in (0, 2)  # 2 once a second has passed
    assert figures_printed("prolong", made.name, "--days", "19")["postings"] == 0


def test_expired_hits_are_offered_again_and_a_dry_run_names_the_cost(rehearsal, commit):
    made = published(hits=2, commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync(made, commit)
    held = rehearsal.available()
    rehearsal.later(days=8)
    Posting.objects.update(expires_at=timezone.now() - timedelta(hours=1), settled_at=None, state="live")
    figures = figures_printed("prolong", made.name, "--days", "30", "--dry-run")
    assert (figures["postings to prolong"], figures["of these offered again"], figures["set aside again"]) == (
        1,
        1,
        "0.78",
    )
    assert not Outbox.objects.filter(call="prolong").exists()
    assert figures_printed("prolong", made.name, "--days", "30")["calls waiting or failed"] == 0
    assert rehearsal.available() == held
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())


def test_a_call_whose_answer_is_lost_prolongs_once(rehearsal, commit):
    made = published(hits=1, commit=commit)
    rehearsal.fault(kind="drop", operation="UpdateExpirationForHIT", nth=1)
    assert figures_printed("prolong", made.name, "--days", "20")["calls waiting or failed"] == 1
    sync(made, commit)
    assert Outbox.objects.get(call="prolong").state == "done"
    assert Posting.objects.get().expires_at == expiry_there(rehearsal, rehearsal.hits()[0])


def test_invalid_days_and_closed_rounds_are_refused(rehearsal, commit):
    made = published(hits=1, commit=commit)
    for days in ("0", "366", "-1"):
        with pytest.raises(CommandError, match=f"number of days {days}:"):
            call_command("prolong", made.name, f"--days={days}")
    call_command("close", made.name)
    with pytest.raises(CommandError, match="is not open on a platform"):
        call_command("prolong", made.name, "--days", "3")
