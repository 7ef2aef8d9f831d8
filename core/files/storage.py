"""Stored files appear whole or not at all, even if the process that writes them dies."""

import os
from typing import Any
from uuid import uuid4

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage


class WholeFileStorage(FileSystemStorage):
    """A folder in which each file is written under a hidden name and then renamed, over an existing one if need be."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_overwrite=True)

    def _save(self, name: str, content: File) -> str:
        folder, file_name = os.path.split(name)
        part = os.path.join(folder, f".{file_name}.{uuid4().hex[:8]}")
        try:
            super()._save(part, content)  # type: ignore[misc]  # missing in the stubs
            os.replace(self.path(part), self.path(name))
        except BaseException:
            self.delete(part)
            raise
        return name
