"""Publishing a round: environment, offer, cost and confirmation."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.judging.wage_terms import wage_terms
from annotation.models import Admission, QualificationTest
from annotation.money.wages import Expectation, alike_rounds, pilot_of
from annotation.people.consent import empty_words
from console.fields import ParametersForm, choose
from console.permissions import StaffRequest, researchers_only
from console.places import follow
from console.refusals import refusals_in
from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import open_once
from crowd import jobs
from crowd.calls.funds import ask_funds
from crowd.channels import CHANNELS, Market, find_market, is_by_session, usable_markets
from crowd.channels.base import AsksFees
from crowd.offers import Offer, offer_of
from crowd.posting.postings import postings_for
from crowd.posting.publication import BELOW_FLOOR, check_publishable, publish_round, quote
from crowd.posting.publish_parameters import AdmissionParameters, TimeParameters
from hits.models import Round
from hits.rounds.packed_rounds import missing_pictures, repeats_of
from hits.task_types import task_type_of

HINTS = {
    "capacity": "No limit if empty.",
    "per_worker": "No limit if empty.",
    "practice": "Unpaid; it shows the right answers.",
    "expected_minutes": "Your own estimate, shown to workers.",
}
"""Field of the browser pool → its hint on the page, if it needs one; a command has the help of the declaration."""


class AdmissionForm(ParametersForm):
    """Who may join a round in the browser, and how many HITs they may take; the expected time of a HIT."""

    act = AdmissionParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("test", "practice"):
            tests = QualificationTest.objects.all()
            choose(self, name, forms.ModelChoiceField(tests, required=False, empty_label="none"))
        self.fields["expected_minutes"] = TimeParameters.form_fields()["expected_minutes"]
        for name, field in self.fields.items():
            field.help_text = HINTS.get(name, "")


class OfferForm(ParametersForm):
    """An Offer, the expected time of a HIT, and whether to publish although pictures are missing."""

    act = Offer
    field_order = ("skip_missing",)
    skip_missing = forms.BooleanField(required=False, label="Publish although pictures are missing")

    def __init__(self, *args: Any, round: Round, unused: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round
        self.fields = {name: field for name, field in self.fields.items() if name not in unused}
        for name in ("title", "description", "keywords"):
            if name in self.fields:
                self.fields[name].required = True
                self.fields[name].initial = getattr(offer_of(round), name)
        if "max_sessions" in self.fields:
            self.fields["max_sessions"].required = False
        self.fields |= TimeParameters.form_fields()
        alike = Round.objects.filter(pk__in=[other.pk for other in alike_rounds(round)])
        newest = "the newest round with the same question"
        choose(self, "pilot", forms.ModelChoiceField(alike, required=False, empty_label=newest))

    def clean_max_sessions(self) -> int:
        return self.cleaned_data["max_sessions"] or 0

    def offer(self) -> Offer:
        """Return the Offer."""
        return offer_of(self.round, Offer(**self.chosen()))

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the round and the environment, as JSON values."""
        minutes = self.cleaned_data["expected_minutes"]
        pilot = self.cleaned_data["pilot"]
        return {
            "offer": self.offer().as_json(),
            "expected_minutes": None if minutes is None else str(minutes),
            "pilot": pilot.name if pilot else None,
            "skip_missing": self.cleaned_data["skip_missing"],
        }


@researchers_only.fills("rounds/<slug:name>/publish/")
def round_publish(request: StaffRequest, name: str) -> HttpResponse:
    """Show the effect and the cost of publishing in the environment ``on``; publish once confirmed."""
    round = get_object_or_404(Round.objects.select_related("pool__collection"), name=name)
    environment = _environment(request)
    if round.state != "draft":
        messages.info(request, f"Round {round} is already {round.state}.")
        return redirect("round", name)
    publish = _to_platform if environment.has_postings else _in_browser
    return publish(request, round, environment)


def _in_browser(request: StaffRequest, round: Round, environment: Market) -> HttpResponse:
    form = AdmissionForm(request.POST if request.method == "POST" else None)
    may_go_below = request.user.has_perm(BELOW_FLOOR)
    if form.is_valid():
        with refusals_in(form):
            publish_round(
                round,
                channel=environment.channel,
                admission=AdmissionParameters(**form.chosen()).admission(),
                skip_missing="skip_missing" in request.POST,
                expected_minutes=form.cleaned_data["expected_minutes"],
                # The tick counts only for who may go below the floor; for others such a reward is refused.
                below_floor="below_floor" in request.POST and may_go_below,
                actor=request.user.get_username(),
            )
            share = "Make invitations." if form.cleaned_data["invited"] else "Share the join link."
            messages.success(request, f"Round {round} is open. {share}")
            return redirect("round", round.name)
    context = _common(round, environment) | {
        "form": form,
        "terms": wage_terms(round),
        "empty_words": empty_words(round).values() if round.reward else (),
        "repeats": repeats_of(round),
        "may_go_below": may_go_below,
    }
    status = 409 if form.non_field_errors() else 422 if form.errors else 200
    return render(request, "console/rounds/publish.html", context, status=status)


def _to_platform(request: StaffRequest, round: Round, environment: Market) -> HttpResponse:
    """Fill in the offer, confirm it, publish as a job. The form is validated at every step."""
    channel = CHANNELS[environment.channel]
    form = OfferForm(request.POST if request.method == "POST" else None, round=round, unused=channel.unused)
    expected = None
    if "change" not in request.POST and form.is_valid():
        with refusals_in(form):
            expected = _checked(round, environment, form)
    trouble = _unconfirmed(request, round, environment) if expected else ""
    if expected and trouble is None:
        return follow(_start(request, round, environment, form))
    context = _common(round, environment) | {
        "form": form,
        "funds": ask_funds(environment.channel, environment.environment),
    }
    if not expected:
        context |= {
            "asks_fees": isinstance(channel, AsksFees),
            "measured": pilot_of(round, rehearsed=environment.rehearsal),
        }
        return render(request, "console/rounds/publish_platform.html", context, status=422 if form.errors else 200)
    context |= {
        "expected": expected,
        "trouble": trouble,
        "hourly": round.reward * 3600 / expected.seconds if expected.seconds else None,
        "n_postings": postings_for(round, environment.channel),
        "by_session": is_by_session(environment.channel),
    }
    return render(request, "console/rounds/publish_confirm.html", context, status=409 if trouble else 200)


def _checked(round: Round, environment: Market, form: OfferForm) -> Expectation:
    return check_publishable(
        round,
        channel=environment.channel,
        environment=environment.environment,
        offer=form.offer(),
        admission=Admission(),
        missing=[] if form.cleaned_data["skip_missing"] else missing_pictures(round),
        pilot=form.cleaned_data["pilot"],
        expected_minutes=form.cleaned_data["expected_minutes"],
    )


def _unconfirmed(request: HttpRequest, round: Round, environment: Market) -> str | None:
    """Return why publishing is not confirmed, "" before the confirmation is shown, or None if it is confirmed: the
    person saw this cost and, where it is real money, typed the round's name."""
    if "confirmed" not in request.POST:
        return ""
    if request.POST["confirmed"] != str(quote(round, environment.channel).total):
        return "The cost has changed since it was shown. Check it again."
    if environment.spends and request.POST.get("typed", "").strip() != round.name:
        return f"Type the round's name {round.name} to spend real money."
    return None


def _start(request: StaffRequest, round: Round, environment: Market, form: OfferForm) -> Job:
    title = f"Publish {round} on {environment}"
    params = {"round": round.name, "channel": environment.channel, "environment": environment.environment}
    # The job checks both again: a round that costs more when it runs than the person saw is not published.
    params |= {"ceiling": str(round.ceiling), "cost": request.POST["confirmed"]} | form.params()
    return open_once(title, jobs.publish.name, params, lock=round, same=["round"], by=request.user)


def _common(round: Round, environment: Market) -> dict[str, Any]:
    return {
        "round": round,
        "task": task_type_of(round),
        "environment": environment,
        "environments": usable_markets(),
        "n_hits": round.hits.count(),
        "quote": quote(round, environment.channel),
        "missing": missing_pictures(round),
    }


def _environment(request: HttpRequest) -> Market:
    wanted = request.POST.get("on") or request.GET.get("on")
    try:
        return find_market(wanted) if wanted else usable_markets()[0]
    except CounterpartError as error:
        raise Http404(str(error)) from error
