"""Publishing: where, what a platform shows and demands, what it costs, and a last look before anybody is asked."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.admission import Admission
from annotation.wages import Expectation, fair_reward, pilot_of
from console import tasks
from console.access import StaffRequest, researchers_only
from console.forms import AdmissionForm
from console.offering import OfferForm
from console.starting import start_once
from core.errors import CounterpartError
from core.models import Job
from crowd.channels.markets import Market, find_market, usable_markets
from crowd.funds import ask_funds
from crowd.posting import postings_for
from crowd.publishing import check_publishable, missing_pictures, publish_round, quote
from hits.models import Round


@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def round_publish(request: StaffRequest, name: str) -> HttpResponse:
    """Show what publishing costs and does on the market that ``on`` names; do it once that is confirmed."""
    found = get_object_or_404(Round.objects.select_related("pool__collection"), name=name)
    market = _market(request)
    if found.state != "draft":
        messages.info(request, f"Round {found} is {found.state} already.")
        return redirect("round", name)
    return _on_platform(request, found, market) if market.is_remote else _in_pool(request, found, market)


def _in_pool(request: StaffRequest, round: Round, market: Market) -> HttpResponse:
    form, trouble = AdmissionForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST":
        try:
            publish_round(
                round,
                channel=market.channel,
                admission=form.admission(),
                skip_missing="skip_missing" in request.POST,
                actor=request.user.get_username(),
            )
            messages.success(request, f"Round {round} is open. Share the join link.")
            return redirect("round", round.name)
        except CounterpartError as error:
            trouble = str(error)
    context = _common(round, market) | {"form": form, "trouble": trouble}
    return render(request, "console/publish.html", context, status=409 if trouble else 200)


def _on_platform(request: StaffRequest, round: Round, market: Market) -> HttpResponse:
    """Fill in, look once more, publish as a job: the same form each time, so that nothing is taken on trust."""
    form = OfferForm(request.POST if request.method == "POST" else None, round=round)
    if request.method != "POST" or not form.is_valid() or "change" in request.POST:
        return _filling_in(request, round, market, form)
    try:
        expected = _checked(round, market, form)
    except CounterpartError as error:
        form.add_error(None, str(error))
        return _filling_in(request, round, market, form)
    trouble = _unconfirmed(request, round, market)
    if trouble is None:
        return redirect("job", _start(request, round, market, form).pk)
    context = _common(round, market) | _told(round, market, expected) | {"form": form, "trouble": trouble}
    return render(request, "console/publish_confirm.html", context, status=409 if trouble else 200)


def _filling_in(request: HttpRequest, round: Round, market: Market, form: OfferForm) -> HttpResponse:
    context = _common(round, market) | {
        "form": form,
        "funds": ask_funds(market.channel, market.environment),
        "measured": pilot_of(round, rehearsed=market.rehearsal),
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "console/publish_platform.html", context, status=status)


def _checked(round: Round, market: Market, form: OfferForm) -> Expectation:
    missing = [] if form.cleaned_data["skip_missing"] else missing_pictures(round)
    return check_publishable(
        round,
        channel=market.channel,
        environment=market.environment,
        offer=form.offer(),
        admission=Admission(),
        missing=missing,
        **form.timing(),
    )


def _unconfirmed(request: HttpRequest, round: Round, market: Market) -> str | None:
    """Return what keeps the last look from being a confirmation, "" where it is only about to be shown; None where
    somebody has seen just this cost and agreed to it, by name where real money goes."""
    if "confirmed" not in request.POST:
        return ""
    if request.POST["confirmed"] != str(quote(round, market.channel).total):
        return "The cost has changed since it was shown. Look again."
    if market.spends and request.POST.get("typed", "").strip() != round.name:
        return f"Type the round's name, {round.name}, to spend real money."
    return None


def _start(request: StaffRequest, round: Round, market: Market, form: OfferForm) -> Job:
    where = {"channel": market.channel, "environment": market.environment}
    title = f"Publish {round} on {market}"
    return start_once(title, tasks.publish.name, round, by=request.user, **where, **form.params())


def _told(round: Round, market: Market, expected: Expectation) -> dict[str, Any]:
    """What the last look shows beyond the rest: the offer, the time, the money before and after."""
    seconds = expected.seconds
    return {
        "expected": expected,
        "hourly": round.reward * 3600 / seconds if seconds else None,
        "fair": fair_reward(seconds, round.wage_floor) if seconds else None,
        "n_postings": postings_for(round, market.channel),
        "funds": ask_funds(market.channel, market.environment),
    }


def _common(round: Round, market: Market) -> dict[str, Any]:
    return {
        "round": round,
        "market": market,
        "markets": usable_markets(),
        "n_hits": round.hits.count(),
        "quote": quote(round, market.channel),
        "missing": missing_pictures(round),
    }


def _market(request: HttpRequest) -> Market:
    wanted = request.POST.get("on") or request.GET.get("on")
    try:
        return find_market(wanted) if wanted else usable_markets()[0]
    except CounterpartError as error:
        raise Http404(str(error)) from error
