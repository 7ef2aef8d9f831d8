"""The protocol that gives a known figure of a run: on named benchmarks, versions and exports."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_metrics import ExportedVersion, Qrels
from counterpart_metrics.arrays import DIRECTIONS, Integers
from counterpart_metrics.benchmark_targets import coco_settings
from counterpart_metrics.explained import Explanation, Wanted, explain
from counterpart_metrics.needed_lists import needs_of
from counterpart_metrics.policies import Policies
from counterpart_metrics.protocols import Protocol, Setting, score_protocols, settings_of
from counterpart_metrics.targets import Reading
from dataset.models import Version
from dataset.versions.version_files import load_positives
from evaluation.ranking_files import ids_of, stream_rankings
from evaluation.scores.benchmark_scores import ORDER, check_benchmarks, places_named, read_categories
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.runs import original_qrels

DEPTH = 300  # places of lists made of embeddings; a fold has some 60 of them, and R@10 looks at 10


def explain_figure(
    figure: str, path: Path, names: Sequence[str], parameters: EvaluateParameters, *, progress: Progress = silent
) -> tuple[list[Explanation], Wanted, list[str]]:
    """Score a file of rankings under all protocols of the benchmarks; return what each gives, the nearest to the figure
    first, the figure, and notes. One named benchmark means all: they share their ids. Raises CounterpartError as
    ``evaluate_benchmarks``, and for another text than a figure."""
    wanted = Wanted.of(figure)
    versions, places = places_named([name for name in names if name not in ORDER])
    worlds = [_of_version(version) for version in versions] + [_of_export(place) for place in places]
    if not worlds or set(names) & set(ORDER):
        check_benchmarks(
            [name for name in names if name in ORDER] or ORDER[:1], has_categories=bool(parameters.categories)
        )
        shown = read_categories(parameters.categories) if parameters.categories else None
        worlds.insert(0, coco_settings(shown, parameters.zeta))
    model = parameters.model or path.stem
    protocols: list[Protocol] = []
    notes: list[str] = []
    for settings in worlds:
        readings = [Reading(model, one.target, Policies(ties="interval")) for one in settings]
        needs = {one: needed._replace(depth=min(needed.depth, DEPTH)) for one, needed in needs_of(readings).items()}
        blocks = stream_rankings(path, settings[0].target.ids(), needs=needs, progress=progress)
        some, refused = score_protocols(model, blocks, settings)
        protocols += some
        notes += refused
    return explain(protocols, wanted), wanted, notes


def _of_export(place: Path) -> list[Setting]:
    version = ExportedVersion.read(place)
    ids = version.ids()
    return settings_of(version.name, version.qrels(ids), ids)


def _of_version(version: Version) -> list[Setting]:
    """Return the settings of the version's matches, and of the original ones of its queries and of all."""
    ids = ids_of(version.collection)
    judged = {direction.value: Qrels.of(found) for direction, found in load_positives(version).items()}
    galleries = _splits(version.collection)
    original = {direction.value: one for direction, one in original_qrels(version.collection).items()}
    asked = {d: one.of_queries(np.isin(one.queries, judged[d].queries)) for d, one in original.items()}
    found = settings_of(f"version {version}", judged, ids, galleries)
    for on, qrels in (("the original matches of its queries", asked), ("the original matches", original)):
        if any(len(one.queries) for one in qrels.values()):
            found += settings_of(on, qrels, ids, galleries)
    return found


def _splits(collection: Collection) -> Mapping[str, Mapping[str, Integers]]:
    """Return the gallery of each split, where there are several."""
    images = np.array(collection.images.gallery().values_list("pk", "split"), object).reshape(-1, 2)
    captions = np.array(collection.captions.gallery().values_list("pk", "image__split"), object).reshape(-1, 2)
    names = sorted(set(images[:, 1]))
    return {
        f"the gallery of split {name}": {
            direction: side[side[:, 1] == name][:, 0].astype(np.int64)
            for direction, side in zip(DIRECTIONS, (captions, images), strict=True)
        }
        for name in (names if len(names) > 1 else ())
    }
