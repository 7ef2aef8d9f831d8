"""The pictures of a HIT or a test: as files of a size, and by sealed addresses without the database."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import time

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from annotation.models import TestItem
from core.errors import CounterpartError
from core.untrusted import whole_number
from core.web.signatures import is_signature, signature
from corpus.models import Image
from corpus.pictures.thumbnails import LARGEST, SIZES, thumbnail, thumbnail_name, thumbnail_path
from hits.models import Item

SEALS = "counterpart.judging.seal"
SEAL_LENGTH = 16
UNSEALED_LIFE = 3600  # seconds that a browser may keep a picture which was asked for without a seal


def sealed(image: int | None, sha256: str, until: datetime | None) -> str:
    """Return the part of a picture's address that names its copies until then; "" for no time."""
    if until is None or image is None:
        return ""
    text = f"{thumbnail_name(image, sha256)}-{int(until.timestamp()):x}"
    return f"seal={text}-{signature(SEALS, text, length=SEAL_LENGTH)}&"


def picture_response(request: HttpRequest, item: Item | TestItem | None) -> HttpResponseBase:
    """Send the picture of ``item``, the one of number ``?n=`` where it has rankings, in its ``?size=`` (pixels) or else
    the largest; 404 where it is gone.

    Workers never get the stored file: its metadata may name places and people, and its bytes identify the picture.
    """
    try:
        image = _image_of(item, request.GET.get("n", ""))
        if image is None:
            raise CounterpartError("No picture is shown at this place.")
        return _sent(thumbnail(image, _size(request.GET.get("size", ""))), UNSEALED_LIFE)
    except CounterpartError:
        return HttpResponse("Picture not found.", status=404, content_type="text/plain")


def _image_of(item: Item | TestItem | None, number: str) -> Image | None:
    """Return the image of an item, or the one of this number (from 0) among all its rankings."""
    content = getattr(item, "content", None)
    if item is None or not content:
        return item.image if item else None
    ranked = [image for ranking in content["rankings"] for image in ranking]
    place = whole_number(number)
    chosen = [] if place is None else ranked[place : place + 1]
    return Image.objects.filter(pk__in=chosen).first()


def serve_sealed(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Send a stored picture to a request with a valid seal. All other requests, with an expired seal too, go on to the
    page, which asks the database."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.method == "GET" and (given := request.GET.get("seal")):
            name, seconds = _opened(given)
            with suppress(FileNotFoundError):
                if seconds > 0:
                    return _sent(thumbnail_path(name, _size(request.GET.get("size", ""))), seconds)
        return get_response(request)

    return answer


def _opened(given: str) -> tuple[str, int]:
    """Return the name under a seal and the seconds that it is still valid; 0 where we did not make it."""
    text, _, signed = given.rpartition("-")
    if not is_signature(signed, SEALS, text, length=SEAL_LENGTH):
        return "", 0
    name, _, until = text.rpartition("-")
    return name, int(until, 16) - int(time())


def _sent(file: Path, seconds: int) -> HttpResponseBase:
    response = FileResponse(file.open("rb"), filename="picture.jpg", content_type="image/jpeg")
    response["Cache-Control"] = f"private, max-age={seconds}, immutable"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _size(text: str) -> int:
    return next((known for known in SIZES if str(known) == text), LARGEST)
