"""Format ``hf``: a folder that Hugging Face's ``datasets`` loads, with a card."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dataset.exports.card import card
from dataset.exports.data_files import describe, write_data_files
from dataset.exports.specification import Export

SPLIT = "test"  # versions are to measure models on, not to train them
SIZES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}


def write_hugging_face(export: Export) -> None:
    """Write ``README.md`` and, as the configs of the same names, the tables of ``write_data_files``."""
    paths = write_data_files(export)
    front = {
        **licence_of(export),
        "pretty_name": export.version.name,
        "task_categories": ["image-to-text", "text-to-image"],
        "tags": ["image-text-retrieval", *(["simulated-votes"] if _is_simulated(export) else [])],
        "size_categories": [size_category(max(describe(path)[1] for path in paths.values()))],
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
    write_card(export.folder / "README.md", front, card(export.version))


def licence_of(export: Export) -> dict[str, str]:
    """Return the card's fields for the licence: the Hub knows ids in lower case, others have a name."""
    licence = export.version.manifest["licence"]
    if not licence:
        return {"license": "unknown"}
    if licence.lower().startswith(("cc-", "cc0-", "mit", "apache-", "odc-", "odbl", "pddl", "cdla-")):
        return {"license": licence.lower()}
    return {"license": "other", "license_name": licence}


def config_info(name: str, splits: Mapping[str, Path]) -> dict[str, Any]:
    """Describe the columns and sizes of a config, as ``datasets`` does."""
    described = {split: describe(path) for split, path in splits.items()}
    schema = next(iter(described.values()))[0]
    bytes_of = {split: path.stat().st_size for split, path in splits.items()}
    return {
        "config_name": name,
        "features": [_feature(field.name, str(field.type)) for field in schema],
        "splits": [
            {"name": split, "num_bytes": bytes_of[split], "num_examples": rows}
            for split, (_, rows) in described.items()
        ],
        "download_size": sum(bytes_of.values()),
        "dataset_size": sum(bytes_of.values()),
    }


def size_category(rows: int) -> str:
    return next((size for limit, size in SIZES.items() if rows < limit), "n>10M")


def write_card(path: Path, front: Mapping[str, Any], text: str) -> None:
    """Write a Markdown file that begins with ``front`` as YAML."""
    header = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True)
    path.write_text(f"---\n{header}---\n\n{text}", encoding="utf-8")


def _is_simulated(export: Export) -> bool:
    return bool(export.version.manifest["counts"]["simulated_votes"])


def _feature(name: str, kind: str) -> dict[str, str]:
    if kind.startswith("struct"):
        return {"name": name, "dtype": "image"}
    return {"name": name, "dtype": "float64" if kind == "double" else kind}
