"""Format ``eccv-json``, that of the public ECCV Caption files: a JSON object of query → items per direction."""

import shutil
from pathlib import Path

from core.progress import Progress
from dataset.models import Version
from dataset.version_files import checked_file, positives_file
from mitl.models import Direction


def write_eccv_json(version: Version, folder: Path, progress: Progress) -> list[Path]:
    """Write ``<version>_image_to_caption.json`` and ``<version>_caption_to_image.json``, as they were released."""
    written = []
    for done, direction in enumerate(Direction, 1):
        name = positives_file(version.name, direction)
        written.append(folder / name)
        shutil.copyfile(checked_file(version, name), written[-1])
        progress("files", done, len(Direction))
    return written
