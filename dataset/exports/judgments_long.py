"""Format ``judgments-long``: a row for every judgment of a version, with everything that is known of it."""

from collections.abc import Iterator

import pyarrow as pa
from pyarrow import compute

from dataset.exports.specification import Export
from dataset.exports.tables import judgment_batches, write_csv


def write_judgments_long(export: Export) -> None:
    """Write ``<version>_judgments_long.csv``: the columns of the version's file of judgments, then ``order_seed``, the
    seed of the round's order. Raises CounterpartError for a version without rounds."""
    export.require_rounds()
    write_csv(export.folder / f"{export.version.name}_judgments_long.csv", lambda: long_batches(export))


def long_batches(export: Export) -> Iterator[pa.RecordBatch]:
    """Yield the judgments with their round's seed. It is text: seeds go beyond what some readers keep exactly."""
    rounds = export.version.manifest["rounds"]
    names = pa.array([round["name"] for round in rounds], pa.string())
    seeds = pa.array([str(round["seed"]) for round in rounds], pa.string())
    for batch in judgment_batches(export.version, export.progress):
        yield batch.append_column("order_seed", seeds.take(compute.index_in(batch["round"], names)))
