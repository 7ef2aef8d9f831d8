"""Format ``parquet``: the pairs and the judgments as Parquet files."""

from dataset.exports.judgments_long import long_batches
from dataset.exports.specification import Export, Format
from dataset.exports.tables import pair_batches, with_ids, write_parquet


def write_parquet_files(export: Export) -> None:
    """Write ``<version>_pairs.parquet`` and, for a version with rounds, ``<version>_judgments.parquet``; the columns
    with ids are ``image_id`` and ``caption_id``."""
    name = export.version.name
    write_parquet(export.folder / f"{name}_pairs.parquet", with_ids(pair_batches(export.version, export.progress)))
    if export.version.rounds.exists():
        write_parquet(export.folder / f"{name}_judgments.parquet", with_ids(long_batches(export)))


FORMAT = Format(write_parquet_files, "pairs and judgments as Parquet", controls=True)
