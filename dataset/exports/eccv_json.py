"""Format ``eccv-json``, that of the public ECCV Caption files: a JSON object of query → items per direction."""

import json
import shutil

from dataset.exports.exported_tables import pair_rows
from dataset.exports.specification import Export, Format
from dataset.versions.version_files import checked_file, positives_file
from mitl.models import Direction


def write_eccv_json(export: Export) -> None:
    """Write ``<version>_image_to_caption.json`` and ``<version>_caption_to_image.json``: as they were released or, with
    strict labels, without the positives that are not strict."""
    dropped = _not_strict(export) if export.labels == "strict" else set()
    for done, direction in enumerate(Direction, 1):
        name = positives_file(export.version.name, direction)
        released = checked_file(export.version, name)
        if dropped:
            listed = json.loads(released.read_bytes())
            (export.folder / name).write_text(json.dumps(_without(listed, dropped, direction)))
        else:
            shutil.copyfile(released, export.folder / name)
        export.progress("files", done, len(Direction))


def _not_strict(export: Export) -> set[tuple[str, str]]:
    pairs = pair_rows(export.version, export.progress)
    return {(pair["image"], pair["caption"]) for pair in pairs if pair["positive"] and not pair["strict"]}


def _without(listed: dict[str, list], dropped: set[tuple[str, str]], direction: Direction) -> dict[str, list]:
    """Return the lists without the dropped pairs (image, caption), and without queries that have nothing left."""
    turn = 1 if direction == Direction.IMAGE_TO_CAPTION else -1
    kept = {
        query: [item for item in items if (query, str(item))[::turn] not in dropped] for query, items in listed.items()
    }
    return {query: items for query, items in kept.items() if items}


FORMAT = Format(write_eccv_json, "positives of each query, as the public ECCV Caption files", ("lenient", "strict"))
