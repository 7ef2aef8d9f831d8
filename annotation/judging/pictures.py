"""A picture as workers get it: through their own link, under a name that tells nothing."""

from mimetypes import guess_type

from django.core.files.storage import default_storage
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase


def picture_response(file: str | None, *, place: int) -> HttpResponseBase:
    """Send the stored file as the picture at ``place``; 404 without a file, or where it is gone."""
    if not file or not default_storage.exists(file):
        return HttpResponse("This picture is not here.", status=404, content_type="text/plain")
    kind = guess_type(file)[0] or "application/octet-stream"
    response = FileResponse(default_storage.open(file), filename=f"picture-{place}", content_type=kind)
    response["Cache-Control"] = "private, max-age=3600"
    return response
