"""The button that loads the demo."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.permissions import StaffRequest, researchers_only
from console.places import follow
from core.errors import CounterpartError
from demo.jobs import start_loading


@researchers_only
@require_POST
def demo_load(request: StaffRequest) -> HttpResponse:
    """Start the job; the page of the job leads home once it is done."""
    try:
        return follow(start_loading(by=request.user))
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("home")
