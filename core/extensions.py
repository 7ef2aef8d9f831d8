"""Everything that can be extended without a change elsewhere, at a glance: a name and where its declaration is.

A new format, reader, type of task, channel or subject of the console is a module of its own and a line here. Kinds of
annotators and analyses need no line: each module of their folder is one. CONTRIBUTING.md has a recipe for each.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from django.utils.module_loading import import_string

COLLECTION_READERS = {
    "coco": "corpus.readers.coco.LAYOUT",
    "karpathy": "corpus.readers.karpathy.LAYOUT",
    "flickr": "corpus.readers.flickr.LAYOUT",
    "jsonl": "corpus.readers.table.JSONL",
    "table": "corpus.readers.table.LAYOUT",
    "hf": "corpus.readers.released.HF",
    "mteb": "corpus.readers.released.MTEB",
    "folder": "corpus.readers.folder.LAYOUT",
}

JUDGMENT_READERS = {
    "label-studio": "dataset.outside_judgments.label_studio.READER",
    "potato": "dataset.outside_judgments.potato.READER",
    "argilla": "dataset.outside_judgments.argilla.READER",
}

RANKING_READERS = {
    ".json": "evaluation.ranking_files.json_stream.read_json",
    ".npz": "evaluation.ranking_files.ranked_embeddings.read_lists_or_embeddings",
    ".zip": "evaluation.ranking_files.result_folders.read_zip",
}

EXPORT_FORMATS = {
    "eccv-json": "dataset.exports.eccv_json.FORMAT",
    "judgments-csv": "dataset.exports.judgments_csv.FORMAT",
    "judgments-long": "dataset.exports.judgments_long.FORMAT",
    "parquet": "dataset.exports.judgments_long.PARQUET",
    "hf": "dataset.exports.hugging_face.FORMAT",
    "mteb": "dataset.exports.mteb.FORMAT",
    "qrels": "dataset.exports.qrels.FORMAT",
    "coco": "dataset.exports.coco.FORMAT",
    "croissant": "dataset.exports.croissant.FORMAT",
}

TASK_TYPES = {
    "levels": "hits.task_types.levels.LEVELS",
    "checkbox": "hits.task_types.checkbox.CHECKBOX",
    "expert": "hits.task_types.levels.EXPERT",
    "determinate": "hits.task_types.determinate.DETERMINATE",
    "preference": "hits.task_types.ranking_preference.PREFERENCE",
    "caption": "hits.task_types.caption_writing.CAPTION",
}

CHANNELS = {
    "browser": "crowd.channels.browser.BrowserChannel",
    "mturk": "crowd.channels.mturk.channel.MTurkChannel",
    "prolific": "crowd.channels.prolific.channel.ProlificChannel",
}

STAFF_PAGES = (
    "console.annotators",
    "console.api",
    "console.charts",
    "console.collections",
    "console.events",
    "console.home",
    "console.leaderboard",
    "console.money",
    "console.pairs",
    "console.people",
    "console.review",
    "console.rounds",
    "console.tokens",
    "console.upkeep",
    "console.versions",
    "console.webhooks",
    "console.workers",
)  # every module of each declares its pages and acts

API_CALLS = (
    "console.home.resources",
    "console.collections.resources",
    "console.annotators.resources",
    "console.rounds.resources",
    "console.pairs.resources",
    "console.versions.resources",
    "console.leaderboard.resources",
    "console.events.resources",
    "console.upkeep.resources",
    "console.webhooks.resources",
)

# Every module of both; packages of others by the entry points of ANNOTATOR_GROUP.
ANNOTATORS = ("counterpart_annotators.kinds", "mitl.annotators")
ANNOTATOR_GROUP = "counterpart.annotators"
ANALYSES = "evaluation.analyses"  # every module, named SUBJECT_analysis


def load(declared: Mapping[str, str]) -> dict[str, Any]:
    """Import what is declared under each name, in their order."""
    return {name: import_string(place) for name, place in declared.items()}


def modules_in(folder: str) -> list[str]:
    """Return the names of the modules of a folder, in alphabetical order."""
    return sorted(module.name for module in iter_modules(import_module(folder).__path__))
