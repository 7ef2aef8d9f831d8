"""How far to trust what was concluded: a version's bias and completeness, a round's effect on the models, and their
estimated scores."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.jobs import start_measuring
from console.kept_figures import kept_if_slow
from console.permissions import StaffRequest, members_only, researchers_only
from console.trust.estimate_figures import estimate_figures
from console.trust.trust_figures import stored_trust
from core.errors import CounterpartError
from dataset.models import Version
from evaluation.live_effect import Effect, EffectParameters, measure_effect, saving_of
from hits.models import Round

Lines = list[dict[str, object]]

LOOKS = EffectParameters(looks=10)


@members_only.reads
def version_trust(request: HttpRequest, name: str) -> HttpResponse:
    """The bias of a version and how many matches it lacks, once a job has measured them."""
    found = get_object_or_404(Version.objects.select_related("collection", "sample"), name=name)
    return render(request, "console/trust/trust.html", {"version": found, "figures": stored_trust(found)})


@researchers_only.acts
def version_measure(request: StaffRequest, name: str) -> HttpResponse:
    """Start the job that measures how far to trust a version."""
    return redirect("job", start_measuring(get_object_or_404(Version, name=name), by=request.user).pk)


@members_only.reads
def round_effect(request: HttpRequest, name: str) -> HttpResponse:
    """What a round's judgments say so far of the models, and whether their ranking is settled."""
    found = get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)
    context: dict[str, object] = {"round": found}
    kept = kept_if_slow(f"effect-of-round:{found.pk}", partial(_effect, found))
    (effect, context["trouble"]), context["old_since"] = kept.figures, kept.old_since
    if effect:
        context |= {"effect": effect, "saving": saving_of(effect), "rows": _rows(effect), "looks": _looks(effect)}
    return render(request, "console/trust/effect.html", context)


@members_only.reads
def round_estimates(request: HttpRequest, name: str) -> HttpResponse:
    """The scores of a round's models with their intervals, an audit's at looks that were fixed in advance."""
    found = get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)
    kept = kept_if_slow(f"estimates-of-round:{found.pk}:{found.state}", partial(estimate_figures, found))
    return render(
        request, "console/trust/estimates.html", {"round": found, "old_since": kept.old_since, **kept.figures}
    )


def _effect(found: Round) -> tuple[Effect | None, str]:
    """Return the effect, or why there is none."""
    try:
        return measure_effect(found, LOOKS), ""
    except CounterpartError as error:
        return None, str(error)


def _rows(effect: Effect) -> Lines:
    """Return a line for each model at the last look, best first."""
    if effect.last is None:
        return []
    look = effect.last.look
    return [
        {
            "model": effect.models[place],
            "score": look.scores[place],
            "low": look.low[place],
            "high": look.high[place],
            "unpooled": effect.unpooled[place],
        }
        for place in look.order.tolist()
    ]


def _looks(effect: Effect) -> Lines:
    return [
        {
            "hits": moment.look.hits,
            "at": moment.at,
            "tau": None if moment.tau != moment.tau else moment.tau,
            "is_settled": moment.is_settled,
            "ranking": effect.ranking(moment),
        }
        for moment in effect.moments
    ]
