"""Rehearsing a draft before it is published: as a worker, or with a simulated crowd."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.jobs import follow
from console.permissions import StaffRequest, researchers_only
from core.parameters import choices
from hits.models import Round
from hits.task_types import task_type_of
from simulation.jobs import start_rehearsal
from simulation.profiles import DEFAULT, PRESETS
from simulation.rehearsals import REHEARSED, discard_rehearsal

MOST = 1_000  # workers


class CrowdForm(forms.Form):
    """The simulated crowd of a rehearsal."""

    workers = forms.IntegerField(initial=20, min_value=1, max_value=MOST, label="Workers")
    profile = forms.ChoiceField(
        choices=choices(*sorted(path.stem for path in PRESETS.glob("*.json"))), initial=DEFAULT, label="Crowd"
    )


@researchers_only.fills
def rehearsals(request: StaffRequest, name: str) -> HttpResponse:
    """The results of a rehearsal of the draft; on POST a job rehearses it, or the results are discarded."""
    round = get_object_or_404(Round, name=name)
    if round.state != "draft":
        messages.info(request, f"Round {round} is already {round.state}.")
        return redirect("round", name)
    if "discard" in request.POST:
        discard_rehearsal(round, actor=request.user.get_username())
        messages.success(request, "The rehearsal is discarded.")
        return redirect("rehearsals", name)
    kept = round.summary.get(REHEARSED)
    form = CrowdForm(request.POST or None, initial=kept)
    if form.is_valid():
        return follow(start_rehearsal(round, **form.cleaned_data, seed=0, by=request.user))
    context = {"round": round, "task": task_type_of(round), "form": form, "rehearsed": _with_rates(round, kept)}
    return render(request, "console/rounds/rehearsals.html", context, status=422 if form.errors else 200)


def _with_rates(round: Round, kept: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the figures of a rehearsal with the shares and the wage that follow from them."""
    if kept is None:
        return None
    seconds = kept["seconds_of_hit"]
    return kept | {
        "cost": Decimal(kept["cost"]),
        "hourly": round.reward * 3600 / Decimal(seconds) if seconds else None,
        "controls_right": kept["right_controls"] / kept["controls"] if kept["controls"] else None,
        "verdicts_right": kept["right_verdicts"] / kept["verdicts"] if kept["verdicts"] else None,
    }
