"""Designs of rounds before they are paid: cost and precision of each, and the links that launch one."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse

from console.charts.plots import drawn
from console.jobs import follow
from console.permissions import StaffRequest, members_only, researchers_only
from console.rounds.design_bases import Source, StoredBasis, pools_of_pairs, start_design, stored_basis, usual_source
from console.rounds.design_charts import matches_chart, pareto_chart
from console.rounds.design_forms import DesignForm
from counterpart_statistics.auditing.audit_designs import AuditDesign, front_of
from counterpart_statistics.auditing.plan_basis import PlanBasis
from counterpart_statistics.estimation import METRICS
from evaluation.designing.compared_designs import ComparedDesigns, matches_text
from hits.judge_designs import queries_of
from mitl.models import Direction

NEAR = 0.05  # relative difference up to which a pool's queries match the design


@members_only.reads
def round_design(request: StaffRequest) -> HttpResponse:
    """Designs by cost and width, from a judged round or a pool that ``?source=`` names (default: the latest), as a job
    stored them."""
    if not usual_source():
        return render(request, "console/rounds/design.html")
    form = DesignForm.of(request.GET)
    if not form.is_valid():
        return _refused(request, form)
    return render(request, "console/rounds/design.html", {"form": form} | _figures(request, form))


@researchers_only.acts
def round_design_measure(request: StaffRequest) -> HttpResponse:
    """Start the job that reads the rankings and judgments behind the designs."""
    form = DesignForm.of(request.POST)
    if not form.is_valid():
        return _refused(request, form)
    return follow(start_design(form.chosen, by=request.user))


def _refused(request: HttpRequest, form: DesignForm) -> HttpResponse:
    return render(request, "console/rounds/design.html", {"form": form}, status=422)


def _figures(request: StaffRequest, form: DesignForm) -> dict[str, Any]:
    source = form.chosen
    kept = stored_basis(form.chosen)
    options = form.options
    command = f"python manage.py plan {source.about} {options.as_options()}"
    context: dict[str, Any] = {"source": source, "kept": kept, "command": command}
    if kept is None:
        return context
    compared = ComparedDesigns(source.round, kept.basis, options)
    chosen = compared.design(form.cleaned_data["share"], form.cleaned_data["spread"])
    designs = compared.designs
    metric = options.metric
    width = form.cleaned_data["width"]
    best = front_of(designs if chosen in designs else [*designs, chosen], metric)
    context |= {
        "basis": kept.basis,
        "compared": compared,
        "floor": source.round.wage_floor,
        "metric": metric,
        "chosen": chosen,
        "chosen_width": chosen.widest(metric),
        "is_narrow": chosen.widest(metric) <= width,
        "is_best": chosen in best,
        "lines": [(one, one.widest(metric), _query_for(form, one)) for one in best],
        "widths": _width_rows(kept.basis, chosen),
        "matches": matches_text(kept.basis),
        "sides": [(Direction(name).label, side) for name, side in kept.basis.sides.items()],
        "chart": drawn(
            pareto_chart(designs, best, chosen, metric, width=width),
            f"Cost against width of {metric} for all designs. The tables below have the figures.",
        ),
        "cheapest_query": _query_for(form, compared.cheapest) if compared.cheapest else "",
    }
    if curve := matches_chart(kept.basis.sides):
        context["curve"] = drawn(curve, "Matches that are found by each share of the judgments.")
    if request.user.has_perm("hits.launch_round"):
        context["launches"] = _launches(source, kept, chosen, form)
    return context


def _query_for(form: DesignForm, design: AuditDesign) -> str:
    """Return the query of the page with this design chosen."""
    chosen = {name: form.data[name] for name in form.fields if name in form.data}
    query = QueryDict(urlencode(chosen), mutable=True)
    query["share"] = f"{design.share:g}"
    query["spread"] = f"{design.spread:g}"
    return query.urlencode()


def _width_rows(basis: PlanBasis, chosen: AuditDesign) -> list[dict[str, Any]]:
    """Return a row for each metric and direction: the width of the chosen design for these queries, which all pairs
    count, and for queries like them, and that of all pairs."""
    like = basis.widths(chosen.share, chosen.spread, "like")
    whole = basis.widths(1.0, 1.0, "like")
    return [
        {
            "metric": metric,
            "direction": Direction(side).label,
            "width": chosen.widths[side, metric],
            "like": like[side, metric],
            "whole": whole[side, metric],
        }
        for side in basis.sides
        for metric in METRICS
    ]


def _launches(source: Source, kept: StoredBasis, chosen: AuditDesign, form: DesignForm) -> list[tuple[str, str]]:
    """Return the labels and addresses that launch the chosen design: packing each pool with about its number of
    queries, or planning a round with a new sample if no pool has it."""
    judge = {"judge": "audit", "audit_share": f"{chosen.audit_share:.4g}"} if chosen.design == "audit" else {}
    values = judge | {"reward": str(form.cleaned_data["reward"]), "step": "pay"}
    pool = source.round.pool
    launches = []
    for one in pools_of_pairs().filter(collection=pool.collection_id).select_related("sample"):
        spread = sum(queries_of(one)) / kept.basis.queries
        if abs(spread - chosen.spread) <= NEAR * chosen.spread:
            query = urlencode(values | {"plan": source.code})
            launches.append((f"Pack {one}", f"{reverse('pool_pack', args=[one.name])}?{query}"))
    if launches:
        return sorted(launches, key=lambda launch: launch[0] != f"Pack {pool}")
    sizes = {"images": pool.sample.images.count(), "captions": pool.sample.captions.count()}
    planned = {
        "collection": pool.collection.name,
        "annotators": list(pool.retrievals.order_by("annotator__name").values_list("annotator__name", flat=True)),
        "top_k": pool.top_k,
        **{name: round(size * chosen.spread) for name, size in sizes.items()},
    }
    query = urlencode(values | planned, doseq=True)
    return [(f"Plan a round of {chosen.spread:g} times the queries", f"{reverse('round_plan')}?{query}")]
