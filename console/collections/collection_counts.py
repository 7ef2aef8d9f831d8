"""What lists of collections count."""

from django.db.models import QuerySet

from console.pagination import count_of
from corpus.models import Caption, Collection, Image, Sample


def counted_collections() -> QuerySet[Collection]:
    """Return the collections with ``n_images``, ``n_captions`` and ``n_samples``."""
    return Collection.objects.annotate(
        n_images=count_of(Image, "collection"),
        n_captions=count_of(Caption, "collection"),
        n_samples=count_of(Sample, "collection"),
    )
