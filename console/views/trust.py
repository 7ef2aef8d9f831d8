"""How far to trust what was concluded: a version's bias and completeness, and the effect of a round on the models."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from console.figures import svg_response
from console.permissions import members_only
from core.errors import CounterpartError
from dataset.models import Version
from evaluation.analyses.bias import SHOWN, Bias, bias_chart, measure_bias
from evaluation.analyses.completeness import measure_completeness
from evaluation.live_effect import Effect, Settings, measure_effect, saving_of
from evaluation.metrics import METRICS
from hits.models import Round

Lines = list[dict[str, object]]

LOOKS = Settings(looks=10)


@members_only
@require_safe
def version_trust(request: HttpRequest, name: str) -> HttpResponse:
    """The bias of a version by the number of annotators, and how many matches it lacks."""
    found = get_object_or_404(Version.objects.select_related("collection", "sample"), name=name)
    context: dict[str, object] = {"version": found}
    try:
        context |= {
            "biases": _biases(found),
            "completeness": measure_completeness(found),
        }
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/trust.html", context)


@members_only
@require_safe
def version_bias(request: HttpRequest, name: str) -> HttpResponse:
    """A chart of the bias of a version by the number of annotators (figure E.2)."""
    found = get_object_or_404(Version.objects.select_related("collection", "sample"), name=name)
    try:
        return svg_response(bias_chart(_biases(found)))
    except CounterpartError as error:
        raise Http404(str(error)) from error


@members_only
@require_safe
def round_effect(request: HttpRequest, name: str) -> HttpResponse:
    """What a round's judgments say so far of the models, and whether their ranking is settled."""
    found = get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)
    context: dict[str, object] = {"round": found}
    try:
        effect = measure_effect(found, LOOKS)
        context |= {"effect": effect, "saving": saving_of(effect), "rows": _rows(effect), "looks": _looks(effect)}
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/effect.html", context)


def _biases(version: Version) -> list[Bias]:
    return measure_bias(version, {metric: METRICS[metric] for metric in SHOWN})


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
            "ranking": [effect.models[place] for place in moment.look.order.tolist()],
        }
        for moment in effect.moments
    ]
