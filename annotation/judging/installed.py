"""Parts of the worker's pages with addresses of their own: the words of their scripts, help without a network, and
the pictures of examples."""

from contextlib import suppress

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core import signing
from django.core.signing import BadSignature
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

from annotation.judging.hit_pictures import picture_response
from annotation.models import ConsentWords, TestItem
from annotation.people.guides import EXAMPLE_SALT
from core.errors import CounterpartError

KEPT = 3600  # seconds that a browser may keep a catalogue


@require_safe
def words(request: HttpRequest, language: str) -> HttpResponseBase:
    """Send the words of the scripts in a language, as a script."""
    if language not in dict(settings.LANGUAGES):
        raise Http404(f"Unknown language {language}.")
    with translation.override(language):
        response = JavaScriptCatalog.as_view(packages=["annotation"])(request)
    response["Cache-Control"] = f"public, max-age={KEPT}"
    return response


@require_safe
def shell(request: HttpRequest) -> HttpResponseBase:
    """Send the script that keeps shared files; at this address, as it may serve only what is below its own."""
    path = finders.find("judging/shell.js")
    if path is None:
        raise CounterpartError("The file judging/shell.js is missing. Install the site again.")
    response = FileResponse(open(path, "rb"), content_type="text/javascript")  # noqa: SIM115  the response closes it
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def example_picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send the picture of an example in a guide."""
    item = None
    with suppress(BadSignature, IndexError):
        key = signing.Signer(salt=EXAMPLE_SALT).unsign_object(token)
        written = ConsentWords.objects.filter(pk=key).first()
        item = TestItem(image_id=written.examples[place]["image"]) if written else None
    return picture_response(item, size=request.GET.get("size", ""))
