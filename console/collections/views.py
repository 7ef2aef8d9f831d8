"""Collections: their images, captions, known matches and samples, imports into them; pictures and thumbnails."""

import mimetypes
from contextlib import nullcontext
from io import BytesIO
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from annotation.models import QualificationTest
from annotation.people.qualification_tests import QualificationParameters, make_qualification
from console import upload_jobs
from console.acts import Chosen, Landing, acts_of
from console.annotators.schemas import counted_annotators, counted_samples
from console.collections.forms import LARGEST_LIST, ImportForm, LookForm, MatchesForm, SampleForm, TestForm
from console.collections.picture_links import opened_link
from console.collections.query_sheets import groups_of
from console.collections.schemas import BatchLine, counted_collections
from console.collections.sent_imports import adds_pictures, look_of
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, page, researchers_only
from console.places import follow, show
from console.refusals import refusals_as_404, refusals_as_messages, refusals_in
from console.uploads import LARGEST_UPLOAD, local_upload, start_with_files_of, start_with_uploads
from core.models import Job
from core.web.middleware import takes_uploads
from corpus.id_lists import COLUMNS, id_lines
from corpus.models import Caption, Collection, Image, Match, Sample
from corpus.pictures.stored_pictures import SHOWN, picture_bytes
from corpus.pictures.thumbnails import LARGEST, SIZES, thumbnail
from corpus.samples import sample_queries
from dataset.secret_controls import are_pairs_secret, refuse_secret_pairs
from hits.task_types.caption_writing import CAPTION
from mitl.pooling import pool_sample

SUGGESTED = 60  # query images and query captions


@members_only.reads("collections/")
def collections(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_collections())
    context = {"rows": rows, "things": "collections", "annotators": counted_annotators()}
    return render(request, "console/collections/collections.html", context)


def collection_or_404(name: str) -> Collection:
    return get_object_or_404(Collection, name=name)


collection_act = acts_of(None, "collections/<slug:name>/", collection_or_404, researchers_only)


@members_only.reads("collections/<slug:name>/")
def collection(request: HttpRequest, name: str) -> HttpResponse:
    """The pictures of a collection with their captions; those with the words ``?q=`` in one."""
    collection = get_object_or_404(counted_collections(), name=name)
    secret = are_pairs_secret(collection, request.user)
    words = "" if secret else request.GET.get("q", "").strip()
    images = collection.images.prefetch_related("captions")
    if words:
        named = collection.captions.order_by().filter(text__icontains=words)
        images = images.filter(pk__in=named.values("image"))
    context = {
        "words": words,
        "secret": secret,
        "images": page_of(request, images, size=24),
        "n_without_file": collection.images.without_file().count(),
        "n_uncaptioned": collection.images.uncaptioned().count(),
    }
    return show(request, "console/collections/collection.html", collection, context)


@members_only.reads("collections/<slug:name>/ids/<slug:what>/")
def collection_ids(request: HttpRequest, name: str, what: str) -> StreamingHttpResponse:
    """Send the ids of the images or captions, with what they name, as a table."""
    collection = collection_or_404(name)
    if what not in COLUMNS:
        raise Http404(f"Choose {' or '.join(COLUMNS)}.")
    if what == "captions":
        refuse_secret_pairs(collection, request.user)
    attached = {"Content-Disposition": f'attachment; filename="{name}-{what}.csv"'}
    return StreamingHttpResponse(id_lines(collection, what), content_type="text/csv; charset=utf-8", headers=attached)


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills("import/")
def collection_import(request: StaffRequest) -> HttpResponse:
    """Upload captions, pictures or both, into a new collection or the one that ``?into=`` names; a job looks at them,
    or at once imports pictures of an existing collection."""
    into = request.GET.get("into", "")
    known = {"collection": into, **request.GET.dict()}
    form = ImportForm(request.POST or None, request.FILES or None, initial=known)
    if request.method == "POST" and form.is_valid():
        params = form.chosen()
        files = {field: form.cleaned_data[field] for field in ("captions", "images") if form.cleaned_data[field]}
        title, task = _act_on(params, direct=adds_pictures(params, files))
        return follow(start_with_uploads(title, task, params, files, by=request.user))
    existing = Collection.objects.filter(name=into).first()
    n_without_file = existing.images.without_file().count() if existing else 0
    context = {"form": form, "into": existing, "n_without_file": n_without_file}
    return render(request, "console/collections/import.html", context, status=422 if form.errors else 200)


@researchers_only.fills("import/<uuid:job_id>/")
def import_look(request: StaffRequest, job_id: UUID) -> HttpResponse:
    """What a job found in a person's files: they import it, or look again with other parameters."""
    job, found = look_of(job_id, request.user)
    if found is None:
        raise Http404("The files of this look are not kept any more. Upload them again.")
    form = LookForm(request.POST if request.method == "POST" else None, initial=job.params)
    if form.is_valid():
        params = {"collection": job.params["collection"], **form.chosen()}
        title, task = _act_on(params, direct="look" not in request.POST)
        with refusals_in(form):
            return follow(start_with_files_of(job, title, task, params, by=request.user))
    context = {"form": form, "name": job.params["collection"], **found}
    return render(request, "console/collections/import_look.html", context, status=422 if form.errors else 200)


def _act_on(params: dict[str, Any], *, direct: bool) -> tuple[str, str]:
    """Return the title and the task of the job that imports, or looks first."""
    act = upload_jobs.import_collection if direct else upload_jobs.look_at_import
    return f"{'Import' if direct else 'Look at files for'} {params['collection']}", act.name


@members_only.reads("collections/<slug:name>/matches/")
def matches(request: HttpRequest, name: str) -> HttpResponse:
    """The sources of a collection's matches, and what imports brought."""
    collection = collection_or_404(name)
    context = {
        "sources": Match.objects.filter(collection=collection).by_source(),
        "batches": [BatchLine.model_validate(batch) for batch in collection.batches.all()],
    }
    return show(request, "console/collections/matches.html", collection, context)


@collection_act(
    "matches/import",
    "Which matches of {} are known from elsewhere?",
    label="Import matches",
    button="Upload and import",
    form=lambda data, collection: MatchesForm(data),
    uploads=LARGEST_UPLOAD,
)
def matches_import(collection: Collection, chosen: Chosen, by: User) -> Job:
    """All pairs of the file are imported or, if anything is wrong, none."""
    params = {**chosen, "collection": collection.name}
    file = {"file": params.pop("file")}
    title = f"Import {chosen['source']} matches of {collection}"
    return start_with_uploads(title, upload_jobs.import_matches.name, params, file, by=by)


@members_only.reads("collections/<slug:name>/samples/")
def samples(request: HttpRequest, name: str) -> HttpResponse:
    """The samples of queries and the qualification tests of a collection."""
    collection = collection_or_404(name)
    tests = QualificationTest.objects.filter(collection=collection)
    context = {
        "samples": counted_samples().filter(collection=collection),
        "tests": tests.annotate(n_items=Count("items"), n_sentences=Count("items", filter=Q(items__image=None))),
    }
    return show(request, "console/collections/samples.html", collection, context)


@collection_act(
    "sample",
    "Which images and captions of {} are the queries?",
    label="Draw a sample",
    button="Make the sample",
    form=lambda data, collection: SampleForm(data, initial=_suggested(collection)),
)
def sample(collection: Collection, chosen: Chosen, by: User) -> Landing:
    made = sample_queries(**chosen, collection=collection, actor=by.get_username())
    return Landing(f"The sample {made} is made.", reverse("samples", args=[collection.name]))


@collection_act(
    "test",
    "What does a test with pairs of {} ask?",
    label="Make a test",
    button="Make the test",
    form=lambda data, collection: TestForm(data, initial={"positives": 4, "negatives": 4, "pass_mark": 7}),
    uploads=LARGEST_LIST,
)
def test(collection: Collection, chosen: Chosen, by: User) -> Landing:
    sentences = chosen["sentences"]
    with local_upload(sentences) if sentences else nullcontext() as file:
        described = QualificationParameters(**{**chosen, "collection": collection.name, "sentences": file})
        made = make_qualification(described, actor=by.get_username())
    text = f"The test {made} is made. Choose it when you publish a round in the browser."
    return Landing(text, reverse("test_items", args=[made.name]))


def _suggested(collection: Collection) -> dict[str, int]:
    """Return how many query images and captions of the gallery to draw; without captions, images alone."""
    gallery = collection.images.gallery()
    captions = collection.captions.gallery().count()
    images = gallery.captioned() if captions else gallery.uncaptioned()
    return {
        "images": min(SUGGESTED, images.count()),
        "captions": min(SUGGESTED, captions),
        "uncaptioned": not captions,
    }


@researchers_only.acts("samples/<slug:name>/captions/")
def sample_captions(request: StaffRequest, name: str) -> HttpResponse:
    """Go on to packing a round in which workers write captions for the images of a sample."""
    sample = get_object_or_404(Sample.objects.select_related("collection"), name=name)
    with refusals_as_messages(request):
        pool = pool_sample(sample, actor=request.user.get_username())
        return redirect(f"{reverse('pool_pack', args=[pool.name])}?task={CAPTION}")
    return redirect("samples", sample.collection.name)


@members_only.reads("pictures/<int:image_id>/")
@cache_control(private=True, max_age=86_400)
def picture(request: HttpRequest, image_id: int) -> FileResponse:
    """A thumbnail with ``?size=``; else the stored file, or a copy as JPEG of one that browsers do not show."""
    image = get_object_or_404(Image, pk=image_id)
    size = request.GET.get("size", "")
    if size and size not in map(str, SIZES):
        raise Http404(f"Invalid size: choose one of {SIZES}, or leave it out.")
    if size:
        return _jpeg(image, int(size))
    if not image.file:
        raise Http404(f"Picture {image} has no file.")
    if not image.file.endswith(SHOWN):
        return _jpeg(image)
    with refusals_as_404():
        content = picture_bytes(image.file)
    return FileResponse(BytesIO(content), content_type=mimetypes.guess_type(image.file)[0])


def _jpeg(image: Image, size: int = LARGEST) -> FileResponse:
    with refusals_as_404():
        return FileResponse(thumbnail(image, size).open("rb"), content_type="image/jpeg")


@page("pictures/signed/<token>/")
@require_safe
def signed_picture(request: HttpRequest, token: str) -> FileResponse:
    """Send a picture for a signed link, without its metadata: these may reveal places and people."""
    image, seconds = opened_link(token)
    response = _jpeg(image)
    response["Cache-Control"] = f"private, max-age={seconds}, immutable"
    response["Referrer-Policy"] = "no-referrer"
    return response


@members_only.reads("images/<int:pk>/")
def image(request: HttpRequest, pk: int) -> HttpResponse:
    return _query(request, get_object_or_404(Image.objects.select_related("collection"), pk=pk))


@members_only.reads("captions/<int:pk>/")
def caption(request: HttpRequest, pk: int) -> HttpResponse:
    return _query(request, get_object_or_404(Caption.objects.select_related("collection"), pk=pk))


def _query(request: HttpRequest, query: Image | Caption) -> HttpResponse:
    """Show an image or a caption as a query, with what does and does not match it."""
    refuse_secret_pairs(query.collection, request.user)
    context = {"query": query, "image": query if isinstance(query, Image) else None, "groups": groups_of(query)}
    return render(request, "console/collections/query.html", context)
