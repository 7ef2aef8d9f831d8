"""Annotators, their training, their searches side by side, and the pools that join their proposals."""

from typing import Any

from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from console.annotators.figures import calibration_figures, training_of
from console.annotators.forms import AnnotatorForm, EmbeddingsForm, OriginForm, TrainForm
from console.annotators.schemas import AnnotatorAnswer, PoolAnswer, counted_annotators, related_pools
from console.annotators.search_examples import SearchExample, compared, examples
from console.pagination import count_of, number_in, page_of
from console.pairs.pair_filters import pairs_in
from console.pairs.pair_lines import lines_of
from console.pairs.pair_scopes import PairScope
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import follow
from console.refusals import refusals_in
from console.upload_jobs import add_annotator
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.errors import CounterpartError
from core.models import Job
from core.web.middleware import takes_uploads
from corpus.models import Collection
from dataset.secret_controls import are_pairs_secret, refuse_secret_pairs
from hits.models import Round
from mitl.annotators import kind_of, kinds
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.overlaps import Overlap, overlap
from mitl.registration import Origin, set_origin
from mitl.search.search_report import HEADS, notes_on, rows_of
from mitl.training.trainer import TrainParameters, open_training

EXAMPLES = 4
FIRST_PAIRS = 10


@members_only.reads
def annotators(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_annotators())
    return render(request, "console/annotators/annotators.html", {"rows": rows, "things": "annotators"})


@members_only.reads
def annotator(request: HttpRequest, name: str) -> HttpResponse:
    """One annotator, with examples from one of its searches: ``?retrieval=``, starting at query ``?from=``."""
    annotator = get_object_or_404(counted_annotators(), name=name)
    return _page(request, annotator, OriginForm(initial={"source": annotator.source, "licence": annotator.licence}))


@researchers_only.acts
def annotator_origin(request: StaffRequest, name: str) -> HttpResponse:
    """Set where an annotator's weights come from, and their licence."""
    form = OriginForm(request.POST)
    annotator = get_object_or_404(counted_annotators(), name=name)
    if not form.is_valid():
        return _page(request, annotator, form)
    set_origin(annotator, Origin(**form.chosen()), actor=request.user.get_username())
    return redirect("annotator", name)


def _page(request: HttpRequest, annotator: Annotator, origin: OriginForm) -> HttpResponse:
    retrievals = list(annotator.retrievals.select_related("collection", "sample", "gallery")[:20])
    wanted = request.GET.get("retrieval", "")
    shown = next((r for r in retrievals if str(r.pk) == wanted), retrievals[0] if retrievals else None)
    start = number_in(request, "from")
    context = {
        "annotator": annotator,
        "answer": AnnotatorAnswer.model_validate(annotator),
        "origin": origin,
        "training": training_of(annotator),
        "calibration": calibration_figures(annotator),
        "retrievals": retrievals,
        "shown": shown,
        "heads": HEADS,
        "report": rows_of(shown.report) if shown else [],
        "notes": notes_on(shown.report) if shown else [],
        "start": start,
        "previous": max(0, start - EXAMPLES),
        "following": start + EXAMPLES,
        **_lists_of(request, shown, start),
    }
    return render(request, "console/annotators/annotator.html", context, status=422 if origin.errors else 200)


def _lists_of(request: HttpRequest, retrieval: Retrieval | None, start: int) -> dict[str, list[SearchExample] | str]:
    if retrieval is None:
        return {}
    try:
        refuse_secret_pairs(retrieval.collection, request.user)
        return dict(examples(retrieval, start=start, queries=EXAMPLES))
    except CounterpartError as error:
        return {"trouble": str(error)}


@members_only.reads
def side_by_side(request: HttpRequest, name: str) -> HttpResponse:
    """Compare all annotators' results for one query: ``?from=image`` or caption, the query's ``?number=``."""
    collection = get_object_or_404(Collection, name=name)
    direction = Direction.IMAGE_TO_CAPTION if request.GET.get("from") == "image" else Direction.CAPTION_TO_IMAGE
    number = number_in(request, "number")
    context: dict[str, object] = {"collection": collection, "from_images": direction == Direction.IMAGE_TO_CAPTION}
    try:
        refuse_secret_pairs(collection, request.user)
        context["shown"] = compared(collection, direction, number)
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/annotators/side_by_side.html", context)


@members_only.reads
def pools(request: HttpRequest) -> HttpResponse:
    rows = Pool.objects.of_lists().select_related("collection", "sample").annotate(n_rounds=count_of(Round, "pool"))
    return render(request, "console/annotators/pools.html", {"rows": page_of(request, rows), "things": "pools"})


@members_only.reads
def pool(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(related_pools(), name=name)
    agreement, directions = _figures_of(pool)
    place = PairScope(pool)
    shown = 0 if are_pairs_secret(pool, request.user) else FIRST_PAIRS
    context = {
        "pool": pool,
        "answer": PoolAnswer.model_validate(pool),
        "directions": directions,
        "annotators": _agreement_lines(agreement),
        "rounds": pool.rounds.all(),
        "place": place,
        "lines": lines_of(place, pairs_in(place).values_list("image_id", "caption_id")[:shown]),
    }
    return render(request, "console/annotators/pool.html", context)


def _agreement_lines(agreement: Overlap) -> list[tuple[Annotator, list[tuple[Annotator, int, float, int]], int]]:
    """Return a line for each annotator: what it shares with every one, as a count of pairs, a share of its own pairs
    and the tenths of that share, which choose a colour; then the pairs that only it proposed."""
    lines = []
    annotators = agreement.annotators
    for one, shared, alone in zip(annotators, agreement.shared.tolist(), agreement.alone.tolist(), strict=True):
        own = shared[annotators.index(one)]
        pairwise = zip(annotators, shared, strict=True)
        cells = [(other, count, count / own, round(10 * count / own)) for other, count in pairwise]
        lines.append((one, cells, alone))
    return lines


def _figures_of(pool: Pool) -> tuple[Overlap, list[dict[str, Any]]]:
    """Return the annotators' overlap and the proposals of each direction. Cached: a pool never changes."""
    key = f"pool-figures-{pool.pk}-{pool.n_proposals}"
    known = cache.get(key)
    if known is None:
        counts = {one.value: Count("pk", filter=Q(direction=one)) for one in Direction}  # faster than a GROUP BY
        n_proposals = pool.proposals.order_by().aggregate(**counts)
        known = overlap(pool), [{"direction": name, "n": n} for name, n in sorted(n_proposals.items()) if n]
        cache.set(key, known, timeout=86_400)
    return known


@members_only.reads
@never_cache
def training_progress(request: HttpRequest, name: str) -> JsonResponse:
    """Polled by live.js during a training: whether it is still running, and its part of the page."""
    annotator = get_object_or_404(Annotator, name=name)
    training = training_of(annotator)
    context = {"annotator": annotator, "training": training}
    html = render_to_string("console/annotators/_training.html", context, request)
    return JsonResponse({"live": training.under_way, "html": html})


@researchers_only.fills
def train(request: StaffRequest, name: str) -> HttpResponse:
    """Choose the training data and settings; the training then runs as a job."""
    annotator = get_object_or_404(Annotator, name=name)
    form = TrainForm(request.POST or None, losses=kind_of(annotator.kind).losses)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            return redirect("job", open_training(TrainParameters(name=name, **form.chosen()), by=request.user).pk)
    context = {"annotator": annotator, "form": form}
    return render(request, "console/annotators/train.html", context, status=422 if form.errors else 200)


@takes_uploads(LARGEST_UPLOAD)
@researchers_only.fills
def embeddings(request: StaffRequest, name: str) -> HttpResponse:
    """Upload embeddings of a collection; a job makes an annotator of them."""
    collection = get_object_or_404(Collection, name=name)
    form = EmbeddingsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        params = {"name": form.cleaned_data["name"], "kind": "files", "collection": collection.name}
        return redirect("job", _start_adding(request, params, {"checkpoint": form.cleaned_data["file"]}).pk)
    context = {"collection": collection, "form": form}
    return render(request, "console/annotators/embeddings.html", context, status=422 if form.errors else 200)


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills
def annotator_add(request: StaffRequest) -> HttpResponse:
    """Choose a ``?kind=`` and its options, and upload its weights; a job adds the annotator."""
    kind = request.GET.get("kind", "overlap")
    if kind not in kinds():
        raise Http404(f"Unknown kind. Choose one of {', '.join(kinds())}.")
    form = AnnotatorForm(request.POST or None, request.FILES or None, kind=kind)
    if request.method == "POST" and form.is_valid():
        return follow(_start_adding(request, form.params(), form.uploads()))
    context = {"form": form, "kind": kind, "kinds": kinds(), "properties": kind_of(kind)}
    return render(request, "console/annotators/annotator_add.html", context, status=422 if form.errors else 200)


def _start_adding(request: StaffRequest, params: dict[str, Any], files: dict[str, UploadedFile | None]) -> Job:
    title = f"Add annotator {params['name']}"
    return start_with_uploads(title, add_annotator.name, params, files, by=request.user)
