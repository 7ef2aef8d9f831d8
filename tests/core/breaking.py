"""A file that cannot be written to its end."""

from django.core.files.base import ContentFile


class Breaking(ContentFile):
    """Content whose second part cannot be written, as on a full disk."""

    def chunks(self, chunk_size=None):
        yield b"half"
        raise OSError("No space left on device")
