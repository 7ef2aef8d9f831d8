"""Links to pictures that work for an hour without a login, for programs that were given them."""

from time import time

from django.core import signing
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from corpus.models import Image

SALT = "console.collections.picture_links"
SECONDS = 3600


def picture_link(image: Image) -> str | None:
    """Return the address of the image's picture; None where it has none."""
    if not image.file:
        return None
    return reverse("signed_picture", args=[signing.dumps([image.pk, int(time()) + SECONDS], salt=SALT)])


def opened_link(token: str) -> tuple[Image, int]:
    """Return the image of a link, and the seconds for which it still works.

    Raises Http404 for a link that is not ours, has expired, or whose image is gone.
    """
    try:
        image, until = signing.loads(token, salt=SALT)
    except signing.BadSignature as error:
        raise Http404("This link is not valid.") from error
    left = until - int(time())
    if left <= 0:
        raise Http404("This link has expired.")
    return get_object_or_404(Image, pk=image), left
