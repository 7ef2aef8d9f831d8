"""A machine's training: how far it is, drawn while it goes on, and starting one as a job."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from console.access import StaffRequest, members_only, researchers_only
from console.curves import curve_of, losses_of, training_of
from console.forms import TrainForm
from core.errors import CounterpartError
from mitl.models import Annotator
from mitl.training.trainer import open_training


@members_only
@never_cache
@require_safe
def progress(request: HttpRequest, name: str) -> JsonResponse:
    """What job.js asks for while a training is under way: whether it still is, and its part of the page."""
    found = get_object_or_404(Annotator, name=name)
    training = training_of(found)
    html = render_to_string("console/_training.html", {"machine": found, "training": training}, request)
    return JsonResponse({"live": training.under_way, "html": html})


@members_only
@require_safe
def curve(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(curve_of(get_object_or_404(Annotator, name=name)), content_type="image/svg+xml")


@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def train(request: StaffRequest, name: str) -> HttpResponse:
    """Say what a machine learns from; the training then goes on as a job, which may be left."""
    found = get_object_or_404(Annotator, name=name)
    form = TrainForm(request.POST or None, losses=losses_of(found))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("job", open_training(found.name, by=request.user, **form.cleaned_data).pk)
        except CounterpartError as error:
            form.add_error(None, str(error))
    context = {"machine": found, "form": form}
    return render(request, "console/train.html", context, status=422 if form.errors else 200)
