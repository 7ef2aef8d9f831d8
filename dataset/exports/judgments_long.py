"""Formats ``judgments-long``, a row for every judgment of a version with everything that is known of it, and
``parquet``, the pairs and these judgments as Parquet files."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import compute

from dataset.exports.exported_tables import judgment_batches, with_ids, write_csv, write_parquet
from dataset.exports.gallery_rows import pairs_by_id
from dataset.exports.specification import Export, Format
from dataset.models import Version
from hits.judge_designs import JudgeDesign
from hits.models import Item


def write_judgments_long(export: Export) -> None:
    """Write ``<version>_judgments_long.csv``: the columns of the version's file of judgments, then ``order_seed``, the
    seed of the round's order; of a version with a round that asked a part of its pool, ``reason`` and ``inclusion``
    too. Raises CounterpartError for a version without rounds."""
    export.require_rounds()
    write_csv(export.folder / f"{export.version.name}_judgments_long.csv", lambda: long_batches(export))


def write_parquet_files(export: Export) -> None:
    """Write ``<version>_pairs.parquet`` and, for a version with rounds, ``<version>_judgments.parquet``; the columns
    with ids are ``image_id`` and ``caption_id``."""
    name = export.version.name
    write_parquet(export.folder / f"{name}_pairs.parquet", pairs_by_id(export))
    if export.version.rounds.exists():
        write_parquet(export.folder / f"{name}_judgments.parquet", with_ids(long_batches(export)))


def long_batches(export: Export) -> Iterator[pa.RecordBatch]:
    """Yield the judgments with their round's seed. It is text: seeds go beyond what some readers keep exactly."""
    rounds = export.version.manifest["rounds"]
    names = pa.array([round["name"] for round in rounds], pa.string())
    seeds = pa.array([str(round["seed"]) for round in rounds], pa.string())
    chances = chances_of(export.version) if any("judge" in round for round in rounds) else {}
    for batch in judgment_batches(export.version, export.progress):
        seeded = batch.append_column("order_seed", seeds.take(compute.index_in(batch["round"], names)))
        yield _with_chances(seeded, chances) if chances else seeded


@dataclass(frozen=True)
class Chances:
    """Why a round asked a pair, and the probabilities that it did because of its image and because of its caption: by
    id, those of queries. ``greedy`` are the pairs that an audit asked only as likely matches."""

    judge: str
    images: Mapping[str, float]
    captions: Mapping[str, float]
    greedy: Container[tuple[str, str]] = ()

    def reason(self, image: str, caption: str) -> str:
        return "greedy" if (image, caption) in self.greedy else self.judge

    def of(self, image: str, caption: str) -> float | None:
        """Return the probability that the round asked the pair, as each of its queries is drawn by itself; None for a
        likely match, which labels of other pairs decided."""
        if self.judge != "audit":
            return 1.0
        if (image, caption) in self.greedy:
            return None
        return 1 - (1 - self.images.get(image, 0.0)) * (1 - self.captions.get(caption, 0.0))


def chances_of(version: Version) -> dict[str, Chances]:
    """Return the chances of the pairs of each round of the version, by the round's name."""
    designs = {one["name"]: JudgeDesign.from_json(one.get("judge")) for one in version.manifest["rounds"]}
    found = {}
    for round in version.rounds.select_related("pool__sample"):
        design = designs[round.name]
        pool = round.pool
        images = list(pool.sample.images.values_list("key", flat=True)) if "i2t" in pool.directions else []
        captions = list(pool.sample.captions.values_list("key", flat=True)) if "t2i" in pool.directions else []
        drawn = [dict.fromkeys(side, design.n_audited(len(side)) / max(len(side), 1)) for side in (images, captions)]
        batches = Item.objects.filter(hit__round=round, hit__top_up__opened__isnull=False, control=None)
        greedy = set(batches.order_by().values_list("image__key", "caption__key"))
        found[round.name] = Chances(design.judge, drawn[0], drawn[1], greedy)
    return found


def _with_chances(batch: pa.RecordBatch, chances: Mapping[str, Chances]) -> pa.RecordBatch:
    """Append ``reason`` and ``inclusion``, both empty on gold controls."""
    reasons: list[str | None] = []
    inclusion: list[float | None] = []
    columns = (batch[name].to_pylist() for name in ("round", "image", "caption", "control"))
    for name, image, caption, control in zip(*columns, strict=True):
        reasons.append(None if control else chances[name].reason(image, caption))
        inclusion.append(None if control else chances[name].of(image, caption))
    return batch.append_column("reason", pa.array(reasons, pa.string())).append_column(
        "inclusion", pa.array(inclusion, pa.float64())
    )


FORMAT = Format(write_judgments_long, "every judgment with all that is known of it", controls=True)
PARQUET = Format(write_parquet_files, "pairs and judgments as Parquet", controls=True)
