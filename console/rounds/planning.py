"""Planning a round, and packing a pool: the forms, what they cost, and the jobs that do it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.judging.wage_terms import wage_terms_of_plan, wage_terms_suggested
from console.fields import refuse
from console.home.outcomes import planned_for
from console.permissions import StaffRequest, researchers_only
from console.rounds.design_bases import prediction_for
from console.rounds.forms import PackForm, PlanForm
from core.errors import CounterpartError
from hits.jobs import start_packing
from hits.pipeline import start_pipeline
from hits.plan_estimates import estimate_plan, estimate_round
from mitl.models import Pool


@researchers_only.fills
def round_plan(request: StaffRequest) -> HttpResponse:
    """The form of a round's parameters; a job then samples, retrieves, pools and packs.

    ``estimate`` shows what it takes instead; so does a plan that takes long, until it is ``confirmed``.
    ``choose`` shows the fields of the chosen type of task.
    """
    sent = request.POST if "choose" in request.POST else request.GET
    known = sent.dict() | {"annotators": sent.getlist("annotators")}
    form = PlanForm(None if "choose" in request.POST else request.POST or None, initial=known)
    context: dict[str, object] = {"form": form}
    if not form.is_bound:
        context["terms"] = wage_terms_suggested(known | {"reward": form["reward"].value()})
    elif form.is_valid():
        try:
            estimate = estimate_plan(form.parameters)
            if "estimate" not in request.POST and ("confirmed" in request.POST or not estimate.is_long):
                return redirect("job", start_pipeline(form.parameters, by=request.user).pk)
            command = f"python manage.py plan_round {form.parameters.as_options()}"
            terms = wage_terms_of_plan(form.parameters)
            context |= {"estimate": estimate, "terms": terms, "command": command}
        except CounterpartError as error:
            refuse(form, error)
    return render(request, "console/rounds/plan.html", context, status=422 if form.errors else 200)


@researchers_only.fills
def pool_pack(request: StaffRequest, name: str) -> HttpResponse:
    """The HITs, pay and ceiling of a round of a pool, as planned with it; a job packs it. ``estimate`` shows their
    number and the wage, ``choose`` the fields of the chosen type of task."""
    pool = get_object_or_404(Pool.objects.select_related("collection", "sample"), name=name)
    sent = request.POST if "choose" in request.POST else request.GET
    known = planned_for(pool) | sent.dict()
    form = PackForm(None if "choose" in request.POST else request.POST or None, initial=known)
    plan = request.POST.get("plan") or request.GET.get("plan", "")
    context: dict[str, object] = {"pool": pool, "form": form, "plan": plan}
    if not form.is_bound:
        context["terms"] = wage_terms_suggested(known | {"reward": form["reward"].value()})
    elif form.is_valid():
        named = form.cleaned_data["round"]
        estimate = estimate_round(pool, form.parameters)
        if estimate.cost > form.parameters.ceiling:
            form.add_error(
                "ceiling", f"The rewards alone cost ${estimate.cost:,}. Raise the ceiling or lower the reward."
            )
        elif "estimate" not in request.POST:
            predicted = prediction_for(plan, pool, form.parameters) if plan else None
            job = start_packing(named, pool, form.parameters, predicted=predicted, by=request.user)
            return redirect("job", job.pk)
        context |= {
            "estimate": estimate,
            "terms": wage_terms_of_plan(form.parameters),
            "command": f"python manage.py pack {named} --pool {pool} {form.parameters.as_options()}",
        }
    return render(request, "console/rounds/pack.html", context, status=422 if form.errors else 200)
