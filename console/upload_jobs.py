"""The jobs of uploaded files, by the functions of the commands: collections, matches, judgments, annotators."""

from pathlib import Path

from console.collections.sent_imports import LOOKING, adds_pictures, keep_look, prepared_upload
from console.uploads import Files, upload_job
from core.errors import CounterpartError, some_of
from core.files.zip_files import unpack
from core.models import Job
from core.work.jobs import JobProgress
from corpus import imports, matches
from corpus.models import Collection
from dataset.outside_judgments import judgment_import
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from hits.models import Round
from mitl import registration
from mitl.annotators import kind_of
from mitl.annotators.files import adopt
from mitl.registration import Origin

JUDGMENT_FILES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet")
# Of a folder of weights as Hugging Face lays it out, or of arrays.
CHECKPOINT_FILES = (".json", ".txt", ".bin", ".safetensors", ".npy", ".npz", ".md", ".model")


look_at_import = upload_job(LOOKING, needs=("hits.launch_round",), keeps=True)(keep_look)


@upload_job("console.tasks.import_collection", needs=("hits.launch_round",))
def import_collection(job: Job, files: Files, progress: JobProgress) -> str:
    """Import the file ``captions`` and the pictures of ``images``, or either alone: pictures for an existing
    collection, or a new one."""
    params = job.params
    if adds_pictures(params, files):
        collection = Collection.objects.named(params["collection"])
        wanted = {name: params.get(name, False) for name in ("skip_missing", "skip_broken")}
        return str(imports.import_pictures(collection, files["images"], **wanted, actor=job.actor, progress=progress))
    with prepared_upload(params, files, progress) as prepared:
        return str(prepared.store(actor=job.actor, progress=progress))


@upload_job("console.tasks.import_matches", needs=("hits.launch_round",))
def import_matches(job: Job, files: Files, progress: JobProgress) -> str:
    """Import the file of matches known from elsewhere."""
    params = job.params
    summary = matches.import_matches(
        Collection.objects.named(params["collection"]),
        source=params["source"],
        path=files["file"],
        direction=params["direction"],
        skip_unknown=params["skip_unknown"],
        actor=job.actor,
        progress=progress,
    )
    return str(summary)


@upload_job("console.tasks.import_judgments", needs=("hits.launch_round",), acts=True)
def import_judgments(job: Job, files: Files, progress: JobProgress) -> str:
    """Import the judgments of the uploaded file, or of the files in a zip file, into the round."""
    given = {name: value for name, value in job.params.items() if name not in ("round", "files")}
    path = files["file"]
    if path.suffix.lower() == ".zip":
        path = unpack(path, path.parent / path.stem, suffixes=JUDGMENT_FILES, progress=progress)
        inside = [file for file in path.rglob("*") if file.is_file()]
        path = inside[0] if len(inside) == 1 else path
    added = judgment_import.import_judgments(
        Round.objects.named(job.params["round"]),
        path,
        wanted=JudgmentParameters.from_json(given | {"items": files.get("items")}),
        actor=job.actor,
        progress=progress,
    )
    return str(added)


@upload_job("console.tasks.add_annotator", needs=("hits.launch_round",))
def add_annotator(job: Job, files: Files, progress: JobProgress) -> str:
    """Add an annotator with the weights, embeddings or lists of ``checkpoint``, if there are any.

    Embeddings that were uploaded for a collection have to cover its gallery.
    """
    params = job.params
    checkpoint = files.get("checkpoint")
    if checkpoint and checkpoint.suffix.lower() == ".zip":
        checkpoint = unpack(checkpoint, checkpoint.parent / "unpacked", suffixes=CHECKPOINT_FILES, progress=progress)
    if checkpoint and params.get("collection"):
        _check_covered(Collection.objects.named(params["collection"]), checkpoint)
    annotator = registration.add_annotator(
        params["name"],
        kind=params["kind"],
        checkpoint=checkpoint,
        options=params.get("options"),
        files={field.removeprefix("option_"): path for field, path in files.items() if field.startswith("option_")},
        origin=Origin(source=params.get("source", ""), licence=params.get("licence", "")),
        actor=job.actor,
    )
    if kind_of(annotator.kind).learns and not annotator.checkpoint:
        return f"Annotator {annotator} is added. Train it next."
    return f"Annotator {annotator} is added. It can search: plan a round with it."


def _check_covered(collection: Collection, path: Path) -> None:
    """Raise CounterpartError for an invalid file, or embeddings without some images or captions of the gallery.

    Lists are compared with a sample later, when it is searched.
    """
    arrays = adopt(path, {}).arrays
    for what, rows in (("image", collection.images), ("caption", collection.captions)):
        if f"{what}_ids" not in arrays:
            return
        known = set(arrays[f"{what}_ids"].tolist())
        if missing := [key for key in rows.gallery().values_list("key", flat=True) if key not in known]:
            raise CounterpartError(
                f"{path.name} has no embedding of {len(missing)} {what}s of {collection}: {some_of(missing)}. "
                f"Embed the whole gallery: show collection {collection} --ids {what}s --out FILE writes the ids."
            )
