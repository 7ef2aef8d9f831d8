"""A worker objects to a refusal on their own page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.appealing import appeal
from annotation.judging.access import Trouble, link_page, visit_of
from annotation.models import Rejection
from annotation.workers import actor_of
from core.errors import CounterpartError


@link_page("POST")
def object_to(request: HttpRequest, token: str, rejection_id: int) -> HttpResponse:
    """Keep the objection and go back to the worker's page."""
    visit = visit_of(token)
    rejection = Rejection.objects.filter(pk=rejection_id, assignment__worker=visit.worker).first()
    if rejection is None:
        raise Trouble(
            "This is not your work", "Go back to your own page and object from there.", status=404, home=visit.token
        )
    try:
        appeal(rejection, text=request.POST.get("text", ""), actor=actor_of(visit.worker))
    except CounterpartError as error:
        raise Trouble("Your objection was not taken", str(error), status=422, home=visit.token) from error
    return redirect(f"{reverse('judging:home', args=[visit.token])}#refused")
