"""Format ``hf``: a folder that Hugging Face's ``datasets`` loads, with a card."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dataset.exports.card import card, files_in
from dataset.exports.citing import write_citation_file
from dataset.exports.data_files import describe, write_data_files
from dataset.exports.licences import on_the_hub
from dataset.exports.picture_column import feature_of
from dataset.exports.specification import Export, Format
from dataset.models import Version
from dataset.releases.credits import title_of

SPLIT = "test"  # versions are to measure models on, not to train them
SIZES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}


def write_hugging_face(export: Export) -> None:
    """Write ``README.md`` and, as the configs of the same names, the tables of ``write_data_files``."""
    paths = write_data_files(export)
    simulated = export.version.manifest["counts"]["simulated_votes"]
    rows = max(describe(path)[1] for path in paths.values())
    front = {
        **on_the_hub(export.version.manifest["licence"]),
        "pretty_name": title_of(export.version),
        "task_categories": ["image-to-text", "text-to-image"],
        "tags": ["image-text-retrieval", *(["simulated-votes"] if simulated else [])],
        "size_categories": [next((size for limit, size in SIZES.items() if rows < limit), "n>10M")],
        "configs": [
            {
                "config_name": name,
                "data_files": [{"split": SPLIT, "path": path.relative_to(export.folder).as_posix()}],
                **({"default": True} if name == "pairs" else {}),
            }
            for name, path in paths.items()
        ],
        "dataset_info": [config_info(name, {SPLIT: path}) for name, path in paths.items()],
    }
    write_card(export.version, export.folder, front)


def config_info(name: str, splits: Mapping[str, Path]) -> dict[str, Any]:
    """Describe the columns and sizes of a config, as ``datasets`` does."""
    described = {split: describe(path) for split, path in splits.items()}
    schema = next(iter(described.values()))[0]
    bytes_of = {split: path.stat().st_size for split, path in splits.items()}
    return {
        "config_name": name,
        "features": [{"name": field.name, "dtype": feature_of(field).get("dtype", "image")} for field in schema],
        "splits": [
            {"name": split, "num_bytes": bytes_of[split], "num_examples": rows}
            for split, (_, rows) in described.items()
        ],
        "download_size": sum(bytes_of.values()),
        "dataset_size": sum(bytes_of.values()),
    }


def write_card(version: Version, folder: Path, front: Mapping[str, Any]) -> None:
    """Write ``CITATION.cff`` and then ``README.md``: the card of what the folder holds, with ``front`` as YAML."""
    write_citation_file(version, folder)
    header = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True)
    text = card(version, files_in(folder))
    (folder / "README.md").write_text(f"---\n{header}---\n\n{text}", encoding="utf-8")


FORMAT = Format(write_hugging_face, "a folder for Hugging Face's datasets, with a card", pictures=True, controls=True)
