"""Pictures, streamed to members from the storage: whole, or as a thumbnail."""

import mimetypes

from django.core.files.storage import default_storage
from django.db.models import F
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from console.access import members_only
from console.thumbnails import SIZES, thumbnail
from core.errors import CounterpartError
from corpus.models import Image, Match


@members_only
@require_safe
@cache_control(private=True, max_age=86_400)
def picture(request: HttpRequest, image_id: int) -> FileResponse:
    """The picture itself, or with ``?size=`` one of the thumbnail sizes."""
    image = get_object_or_404(Image, pk=image_id)
    size = request.GET.get("size", "")
    if not size:
        return _whole(image)
    if not size.isdecimal() or int(size) not in SIZES:
        raise Http404(f"Pictures come in the sizes {SIZES}, or whole.")
    try:
        return FileResponse(thumbnail(image, int(size)).open("rb"), content_type="image/jpeg")
    except CounterpartError as error:
        raise Http404(str(error)) from error


def _whole(image: Image) -> FileResponse:
    if not image.file or not default_storage.exists(image.file):
        raise Http404(f"There is no file of picture {image}.")
    kind = mimetypes.guess_type(image.file)[0] or ""
    safe = kind if kind.startswith("image/") and "svg" not in kind else "application/octet-stream"
    return FileResponse(default_storage.open(image.file, "rb"), content_type=safe)


@members_only
@require_safe
def image(request: HttpRequest, image_id: int) -> HttpResponse:
    """One picture with the captions written for it and the other captions that some source associates with it."""
    found = get_object_or_404(Image.objects.select_related("collection"), pk=image_id)
    matches = (
        Match.objects.filter(image=found)
        .select_related("caption")
        .order_by(F("grade").asc(nulls_last=True), "caption_id", "source")
    )
    others = matches.exclude(caption__image=found)
    context = {"image": found, "captions": found.captions.all(), "matches": others[:200], "n_matches": others.count()}
    return render(request, "console/image.html", context)
