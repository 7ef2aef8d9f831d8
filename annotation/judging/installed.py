"""Parts of the worker's pages with addresses of their own: the words of their scripts, and the pictures of examples."""

from contextlib import suppress

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

from annotation.judging.hit_pictures import picture_response
from annotation.models import ConsentWords, TestItem
from annotation.people.guides import EXAMPLE_SALT

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
def example_picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send the picture of an example in a guide."""
    item = None
    with suppress(BadSignature, IndexError):
        key = signing.Signer(salt=EXAMPLE_SALT).unsign_object(token)
        written = ConsentWords.objects.filter(pk=key).first()
        item = TestItem(image_id=written.examples[place]["image"]) if written else None
    return picture_response(request, item)
