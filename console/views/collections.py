"""Collections with their images, captions, known matches and samples; pictures and their thumbnails."""

import mimetypes
from io import BytesIO

from django.db.models import Count, F, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from console.pagination import count_of, page_of
from console.permissions import members_only
from core.errors import CounterpartError
from corpus.models import Caption, Collection, Image, Match, Sample
from corpus.pictures import picture_bytes
from corpus.thumbnails import SIZES, thumbnail


@members_only
@require_safe
def collections(request: HttpRequest) -> HttpResponse:
    rows = Collection.objects.annotate(
        n_images=count_of(Image, "collection"),
        n_captions=count_of(Caption, "collection"),
        n_samples=count_of(Sample, "collection"),
    )
    return render(request, "console/collections.html", {"rows": page_of(request, rows)})


@members_only
@require_safe
def collection(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Collection, name=name)
    words = request.GET.get("q", "").strip()
    context = {
        "collection": found,
        "words": words,
        "images": page_of(request, _images(found, words), size=24),
        "n_images": found.images.count(),
        "n_captions": found.captions.count(),
        "n_lacking": found.images.lacking_file().count(),
        "sources": found.matches.values("source").annotate(n=Count("pk")).order_by("source"),
        "samples": found.samples.annotate(
            n_images=count_of(Sample.images.through, "sample"), n_captions=count_of(Sample.captions.through, "sample")
        ),
        "retrievals": found.retrievals.select_related("annotator", "sample")[:20],
    }
    return render(request, "console/collection.html", context)


def _images(collection: Collection, words: str) -> QuerySet[Image]:
    images = collection.images.prefetch_related("captions")
    if words:
        named = collection.captions.order_by().filter(text__icontains=words)
        images = images.filter(pk__in=named.values("image"))
    return images


@members_only
@require_safe
@cache_control(private=True, max_age=86_400)
def picture(request: HttpRequest, image_id: int) -> FileResponse:
    """The original picture, or a thumbnail with ``?size=``."""
    image = get_object_or_404(Image, pk=image_id)
    size = request.GET.get("size", "")
    if not size:
        return _original(image)
    if size not in map(str, SIZES):
        raise Http404(f"Invalid size: choose one of {SIZES}, or leave it out.")
    try:
        return FileResponse(thumbnail(image, int(size)).open("rb"), content_type="image/jpeg")
    except CounterpartError as error:
        raise Http404(str(error)) from error


def _original(image: Image) -> FileResponse:
    if not image.file:
        raise Http404(f"Picture {image} has no file.")
    try:
        content = picture_bytes(image.file)
    except CounterpartError as error:
        raise Http404(str(error)) from error
    kind = mimetypes.guess_type(image.file)[0] or ""
    safe = kind if kind.startswith("image/") and "svg" not in kind else "application/octet-stream"
    return FileResponse(BytesIO(content), content_type=safe)


@members_only
@require_safe
def image(request: HttpRequest, image_id: int) -> HttpResponse:
    """One picture with its own captions and other captions that are known to match it."""
    found = get_object_or_404(Image.objects.select_related("collection"), pk=image_id)
    matches = (
        Match.objects.filter(image=found)
        .select_related("caption")
        .order_by(F("grade").asc(nulls_last=True), "caption_id", "source")
    )
    others = matches.exclude(caption__image=found)
    context = {"image": found, "captions": found.captions.all(), "matches": others[:200], "n_matches": others.count()}
    return render(request, "console/image.html", context)
