"""Collections: the list, and one with its pictures, captions, known matches and samples."""

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from console.access import members_only
from console.pages import count_of, page_of
from corpus.models import Caption, Collection, Image, Sample


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
