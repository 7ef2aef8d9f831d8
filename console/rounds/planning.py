"""Planning a round, and packing a pool: a question on each screen, a preview of a HIT and an estimate of the round; and
the jobs that do it."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_update
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import NoReverseMatch, reverse

from annotation.judging.wage_terms import wage_terms_of_plan
from console.home.outcomes import planned_for
from console.permissions import StaffRequest, View, researchers_only
from console.places import follow
from console.refusals import refusals_in, refuse
from console.rounds.forms import PackForm, PlanForm
from console.rounds.plan_path import (
    PACKING,
    PRESETS,
    SHAPING,
    STEPS,
    Answers,
    PlanScreen,
    address,
    changed,
    offered_designs,
    sent_answers,
    values_of,
)
from core.errors import CounterpartError
from corpus.models import Collection
from hits.jobs import start_packing
from hits.rounds.pipeline import start_pipeline
from hits.rounds.plan_estimates import PlanEstimate, estimate_plan, estimate_round
from mitl.models import Annotator, Pool
from mitl.registration import add_annotator


class Way:
    """Planning a round, or packing a pool: its questions, their first answers, and the estimate of the round."""

    def __init__(self, pool: Pool | None = None) -> None:
        self.pool = pool
        self.form = PackForm if pool else PlanForm
        self.steps = PACKING if pool else STEPS
        self.known = planned_for(pool) if pool else {}
        self.estimate: Callable[[Any], PlanEstimate] = partial(estimate_round, pool) if pool else estimate_plan


framed = cast("Callable[[View], View]", csp_update({"frame-src": [SELF]}))


@researchers_only.fills("plan/")
@framed
def round_plan(request: StaffRequest) -> HttpResponse:
    """From a collection to a packed round, or to its pool."""
    return _walk(request, Way())


@researchers_only.fills("pools/<slug:name>/pack/")
@framed
def pool_pack(request: StaffRequest, name: str) -> HttpResponse:
    """From a pool to a packed round, as planned with it."""
    return _walk(request, Way(get_object_or_404(Pool.objects.select_related("collection", "sample"), name=name)))


def _walk(request: StaffRequest, way: Way) -> HttpResponse:
    """Show a step. ``go`` is the button: the ``next`` step, ``show`` (the estimate), a preset, the ``simplest``
    annotator, or to ``make`` the round or its ``pool``."""
    sent = request.POST if request.method == "POST" else request.GET
    step = next((one for one in way.steps if one.name == sent.get("step")), way.steps[0])
    known = {**way.known, **sent_answers(sent, step)}
    form = way.form(initial=known)
    checked = way.form(values_of(form))
    if request.method != "POST":
        return _shown(request, way, step, form, checked)
    go = request.POST.get("go", "make")
    if go in ("make", "pool"):
        return _make(request, way, step, checked, pool_only=go == "pool")
    if go != "simplest" and any(name in checked.errors for name in step.names):
        return _shown(request, way, step, checked, checked)
    preset = next((one for one in PRESETS if one.name == go), None)
    if go == "simplest" or (preset and not Annotator.objects.exists()):
        add_annotator("overlap", kind="overlap", actor=request.user.get_username())  # it needs no weights
        form = way.form(initial=known)
    if preset:
        named = {name: form[name].value() for name in ("collection", "annotators", "round")}
        answers = preset.answers(Collection.objects.named(named["collection"]), max(1, len(named["annotators"])))
        form = way.form(initial=named | answers)
        step = way.steps[-1] if named["annotators"] else STEPS[2]
    elif go in ("next", "simplest"):
        step = way.steps[min(way.steps.index(step) + 1, len(way.steps) - 1)]
    return HttpResponseRedirect(f"{request.path}{address(step, _pairs(way, form))}")


def _make(request: StaffRequest, way: Way, step: PlanScreen, form: PackForm, *, pool_only: bool) -> HttpResponse:
    """Start the job, unless the form is invalid, or its searches take long and the user has not confirmed them."""
    if pool_only:
        form = way.form({**form.data, "pool_only": True})
    if form.is_valid():
        with refusals_in(form):
            estimate = way.estimate(form.parameters)
            if way.pool and estimate.cost > form.parameters.ceiling:
                text = f"The rewards alone cost ${estimate.cost:,}. Raise the ceiling or lower the reward."
                form.add_error("ceiling", text)
            elif not estimate.is_long or "confirmed" in request.POST:
                start = partial(start_packing, way.pool) if way.pool else start_pipeline
                return follow(start(form.parameters, by=request.user))
    return _shown(request, way, step, form, form, must_confirm=not form.errors)


def _shown(
    request: StaffRequest,
    way: Way,
    step: PlanScreen,
    form: PackForm,
    checked: PackForm,
    must_confirm: bool = False,
) -> HttpResponse:
    """Render the page of ``form``; ``checked`` is the same form, bound to all answers."""
    pairs = _pairs(way, form)
    values = values_of(form)
    refused = [one for one in way.steps if form.is_bound and any(name in form.errors for name in one.names)]
    if refused and step not in refused:
        step = refused[0]
    context = {
        "form": form,
        "step": step,
        "steps": [(one, address(one, pairs)) for one in way.steps],
        "refused": [(one, address(one, pairs)) for one in refused if one != step],
        "is_last": step == way.steps[-1],
        "fields": [form[name] for name in step.fields if name in form.fields],
        "advanced": [form[name] for name in step.advanced if name in form.fields],
        "opens": any(name in form.errors for name in step.advanced) if form.is_bound else False,
        "kept": [(name, text) for name, text in pairs if name not in step.names],
        "pool": way.pool,
        "nothing_yet": step.name in ("collection", "annotators") and not form.fields[step.name].queryset.exists(),  # type: ignore[attr-defined]
        "presets": () if way.pool else PRESETS,
        "must_confirm": must_confirm,
        "preview": _preview(way, values),
        **_estimated(way, checked),
    }
    if step.name == "judging":
        parameters = checked.parameters if checked.is_valid() else None
        context["offered"] = list(offered_designs(way.estimate, parameters, way.pool))
    return render(request, "console/rounds/plan.html", context, status=422 if form.is_bound and form.errors else 200)


def _estimated(way: Way, form: PackForm) -> dict[str, object]:
    """Return the estimate of the round; or the answers that are missing or refused."""
    if not form.is_valid():
        unanswered = [form[name].label for name in form.errors if name in form.fields]
        return {"unanswered": unanswered, "why_not": form.non_field_errors()}
    try:
        estimate = way.estimate(form.parameters)
    except CounterpartError as error:
        refuse(form, error)
        return {"why_not": form.non_field_errors()}
    terms = wage_terms_of_plan(form.parameters)
    return {"estimate": estimate, "terms": terms, "seats": form.parameters.seats}


def _pairs(way: Way, form: PackForm) -> list[tuple[str, str]]:
    """Return the answers that differ from the defaults, as pairs of a query string."""
    values = values_of(form)
    shaping = {name: values[name] for name in SHAPING if values.get(name)}
    usual = values_of(way.form(initial={**way.known, **shaping}))
    first = values_of(way.form(initial={**way.known}))
    return changed(values, usual | {name: first[name] for name in SHAPING if name in first})


def _preview(way: Way, values: Answers) -> str:
    """Return the address of a HIT of the collection with these answers; "" if the collection has no pictures."""
    name = way.pool.collection.name if way.pool else values["collection"]
    if not Collection.objects.filter(name=name, images__isnull=False).exists():
        return ""
    asks = "?reasons=yes" if values.get("reasons") else ""
    try:
        return reverse("hit_preview", args=[name, values["task"], values.get("design") or "usual"]) + asks
    except NoReverseMatch:  # of answers that the form refuses
        return ""
