"""Uploaded files, stored under their checksum."""

import hashlib
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile

from core.files import StoredFile


def store_upload(upload: UploadedFile, folder: str) -> StoredFile:
    """Store an uploaded file in a folder of the storage, unless it is there; its suffix is kept."""
    sha256 = hashlib.sha256()
    for chunk in upload.chunks():
        sha256.update(chunk)
    path = f"{folder}/{sha256.hexdigest()}{Path(str(upload.name)).suffix.lower()}"
    if not default_storage.exists(path):
        upload.seek(0)
        default_storage.save(path, File(upload))
    return StoredFile(path, sha256.hexdigest())
