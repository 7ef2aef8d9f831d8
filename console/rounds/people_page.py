"""The tab People of a round: its workers and invitations; inviting, ending idle leases, and writing to its workers."""

from functools import partial

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.judging.links import invitation_link
from annotation.people.admission import make_invitations, places_left, revoke_invitations
from annotation.work.leases import end_idle_leases, idle_leases
from annotation.work.worker_records import SORTS, totals_of, workers_of
from console.acts import Chosen, Landing, Shown, acts_of
from console.fields import asking
from console.kept_figures import kept_if_slow
from console.money.platform_status import is_on_platform
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only, stewards_only
from console.places import show
from console.refusals import refusals_as_messages
from console.rounds.round_acts import round_act
from console.rounds.schemas import is_joined_here, round_or_404
from core.errors import some_of
from core.text import counted, csv_line
from crowd.messages import LONGEST, recipients_of, write_to_round
from hits.models import Round
from hits.task_types import task_type_of

MOST_SHOWN = 10  # invitations, each with a QR code


@members_only.reads("rounds/<slug:name>/people/")
@never_cache
def round_people(request: StaffRequest, name: str) -> HttpResponse:
    """The workers of a round with their sums, as ``?sort=`` orders them; to researchers also its invitations."""
    found = round_or_404(name)
    asked = request.GET.get("sort", "")
    sort = asked if asked in SORTS else "flagged"
    workers = kept_if_slow(f"workers-of-round:{found.pk}:{sort}", partial(workers_of, found, sort=sort))
    context = {
        "task": task_type_of(found),
        "platform": is_on_platform(found),
        "sort": sort,
        "rows": page_of(request, workers.figures),
        "totals": totals_of(workers.figures),
        "old_since": workers.old_since,
    }
    if researchers_only.may(request.user) and is_joined_here(found):
        unused = found.invitations.filter(used_by=None, revoked_at=None)
        latest = found.invitations.select_related("used_by").order_by("-pk")[:MOST_SHOWN]
        context |= {
            "invitations": [(one, invitation_link(one) if one.state == "unused" else "") for one in latest],
            "unused": unused.count(),
            "left": places_left(found),
        }
    return show(request, "console/rounds/people.html", found, context)


def joined_here_or_404(name: str) -> Round:
    return get_object_or_404(Round, name=name, channel="browser")


joined_act = acts_of(Round, "rounds/<slug:name>/", joined_here_or_404, researchers_only)


@joined_act(
    "invitations",
    "How many people do you invite to {}?",
    label="Invite",
    button="Make invitations",
    form=asking(count=forms.IntegerField(label="Invitations", initial=20)),
    offered=is_joined_here,
)
def invitations(round: Round, chosen: Chosen, by: User) -> Landing:
    """Each link lets one person join. The tab People lists them."""
    made = make_invitations(round, chosen["count"], by=by.get_username())
    return Landing(f"{counted(len(made), 'invitation')} made.", reverse("round_people", args=[round.name]))


@researchers_only.reads("rounds/<slug:name>/invitations.csv")
@never_cache
def invitations_csv(request: StaffRequest, name: str) -> StreamingHttpResponse:
    """The numbers and links of all unused invitations."""
    unused = joined_here_or_404(name).invitations.filter(used_by=None, revoked_at=None).order_by("pk")
    lines = (csv_line((one.pk, invitation_link(one))) for one in unused)
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}-invitations.csv"'
    return answer


@researchers_only.acts("rounds/<slug:name>/invitations/<int:invitation_id>/revoke/")
def invitation_revoke(request: StaffRequest, name: str, invitation_id: int) -> HttpResponse:
    with refusals_as_messages(request):
        revoke_invitations(joined_here_or_404(name), [invitation_id], by=request.user.get_username())
        messages.success(request, f"Invitation {invitation_id} is void.")
    return redirect("round_people", name)


@joined_act(
    "idle",
    "End idle leases of {}?",
    label="End idle leases",
    form=asking(with_answers=forms.BooleanField(label="Also leases with saved answers", required=False)),
    asks=lambda round: [
        f"{counted(idle_leases(round).count(), 'HIT is', 'HITs are')} held by workers who never submitted one. A "
        "script that holds seats looks like this, and so does everybody at their first HIT.",
        "The HITs and the places of these workers are free again. Their answers stay saved: they may submit until "
        "another worker takes the HIT, and after that ask for their pay on their page.",
    ],
    offered=is_joined_here,
)
def round_idle(round: Round, chosen: Chosen, by: User) -> str:
    """End the leases of workers who never submitted a HIT."""
    ended = end_idle_leases(round, with_answers=chosen["with_answers"], actor=by.get_username())
    return f"{counted(ended, 'lease')} ended; the HITs can be taken again."


def _recipients(round: Round, chosen: Chosen) -> Shown:
    workers = recipients_of(round, subject=chosen["subject"], text=chosen["text"], by="")
    to = counted(len(workers), "worker")
    says = f"This goes to {to} in the name of our account, and cannot be undone: {some_of(workers)}."
    return Shown(key=str(len(workers)), button=f"Send to {to}", context={"asks": [says]})


@round_act(
    "write",
    "Write to the workers of {}",
    guard=stewards_only,
    label="Write to its workers",
    button="Show the recipients",
    form=asking(
        subject=forms.CharField(max_length=LONGEST["subject"]),
        text=forms.CharField(max_length=LONGEST["text"], widget=forms.Textarea, label="Message"),
    ),
    shows=_recipients,
    offered=is_on_platform,
)
def round_write(round: Round, chosen: Chosen, by: User) -> str:
    """The platform sends it to everybody who submitted work. Do not ask for personal data."""
    sent = write_to_round(round, subject=chosen["subject"], text=chosen["text"], by=by.get_username())
    return f"The message is being sent to {counted(len(sent), 'worker')}."
