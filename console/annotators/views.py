"""Annotators in three tabs, lists, training and origin; several side by side; and pools of their proposals."""

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from console.acts import Chosen, acts_of
from console.annotators.forms import AnnotatorForm, TrainForm
from console.annotators.schemas import AnnotatorAnswer, PoolAnswer, can_learn, counted_annotators, related_pools
from console.annotators.search_examples import compared, examples
from console.fields import asking_for
from console.pagination import number_in
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import follow, show
from console.upload_jobs import add_annotator
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.errors import CounterpartError
from core.models import Job
from core.web.middleware import takes_uploads
from corpus.models import Collection
from counterpart_annotators.training.learners import in_order
from dataset.secret_controls import refuse_secret_pairs
from mitl.annotators import kind_of, kinds
from mitl.charts.lines import curve_chart
from mitl.models import Annotator, Direction, Pool
from mitl.overlaps import Overlap, overlap
from mitl.registration import Origin, set_origin
from mitl.search.gallery import load_lists
from mitl.search.search_report import notes_on
from mitl.training.trainer import TrainParameters, open_training

EXAMPLES = 4


def annotator_or_404(name: str) -> Annotator:
    return get_object_or_404(counted_annotators(), name=name)


annotator_act = acts_of(Annotator, "annotators/<slug:name>/", annotator_or_404, researchers_only)


@members_only.reads("annotators/<slug:name>/")
def annotator(request: HttpRequest, name: str) -> HttpResponse:
    """The lists of one of an annotator's searches: ``?retrieval=``, starting at query ``?from=``."""
    annotator = annotator_or_404(name)
    retrievals = list(annotator.retrievals.select_related("collection", "sample", "gallery")[:20])
    wanted = request.GET.get("retrieval", "")
    shown = next((one for one in retrievals if str(one.pk) == wanted), retrievals[0] if retrievals else None)
    start = number_in(request, "from")
    context: dict[str, Any] = {"retrievals": retrievals, "shown": shown, "start": start}
    context |= {"previous": max(0, start - EXAMPLES), "following": start + EXAMPLES}
    if shown:
        context["notes"] = notes_on(shown.report)
        try:
            refuse_secret_pairs(shown.collection, request.user)
            asked = slice(start, start + EXAMPLES)
            context |= {one.value: examples(one, ranked, asked) for one, ranked in load_lists(shown).items()}
        except CounterpartError as error:
            context["trouble"] = str(error)
    return show(request, "console/annotators/annotator.html", annotator, context)


@members_only.reads("annotators/<slug:name>/training/")
@never_cache
def training(request: HttpRequest, name: str) -> HttpResponse:
    """An annotator's training; live.js asks for its part of the page, and whether it is still running, as JSON.

    An interrupted training counts as under way until it is started again.
    """
    annotator = annotator_or_404(name)
    epochs = [{**epoch, "validation": in_order(epoch["validation"])} for epoch in annotator.curve]
    under_way = bool(epochs) and annotator.trained_on.get("loss_last") != round(epochs[-1]["loss"], 4)
    chart = curve_chart("Training", epochs) if epochs else None
    context = {"annotator": annotator, "epochs": epochs, "under_way": under_way, "chart": chart}
    if request.headers.get("Accept") != "application/json":
        return show(request, "console/annotators/training.html", annotator, context | {"learns": can_learn(annotator)})
    html = render_to_string("console/annotators/_training.html", context, request)
    return JsonResponse({"live": under_way, "html": html})


@annotator_act(
    "train",
    "What does {} learn from?",
    label="Train",
    button="Start training",
    form=lambda data, one: TrainForm(data, losses=kind_of(one.kind).losses),
    offered=can_learn,
)
def train(annotator: Annotator, chosen: Chosen, by: User) -> Job:
    """It learns from the training splits, as a job that can be cancelled and that resumes after the last finished
    epoch. Weights that it has are replaced when training ends."""
    named = {"name": annotator.name, "collection": chosen["collection"].name}
    return open_training(TrainParameters(**{**chosen, **named}), by=by)


@members_only.reads("annotators/<slug:name>/origin/")
def annotator_origin(request: HttpRequest, name: str) -> HttpResponse:
    """What an annotator is: its kind and settings, and where its weights come from."""
    annotator = annotator_or_404(name)
    context = {"answer": AnnotatorAnswer.model_validate(annotator)}
    return show(request, "console/annotators/annotator_origin.html", annotator, context)


@annotator_act(
    "describe",
    "Where do the weights of {} come from?",
    label="Change the source and licence",
    button="Save",
    form=asking_for(Origin, lambda one: {"source": one.source, "licence": one.licence}),
)
def annotator_describe(annotator: Annotator, chosen: Chosen, by: User) -> str:
    set_origin(annotator, Origin(**chosen), actor=by.get_username())
    return "The source and the licence are saved."


@members_only.reads("collections/<slug:name>/annotators/")
def side_by_side(request: HttpRequest, name: str) -> HttpResponse:
    """Compare all annotators' results for one query: ``?from=image`` or caption, the query's ``?number=``."""
    collection = get_object_or_404(Collection, name=name)
    direction = Direction.IMAGE_TO_CAPTION if request.GET.get("from") == "image" else Direction.CAPTION_TO_IMAGE
    context: dict[str, object] = {"from_images": direction == Direction.IMAGE_TO_CAPTION}
    context["pools"] = Pool.objects.of_lists().filter(collection=collection).select_related("sample")
    context["galleries"] = collection.galleries.all()
    try:
        refuse_secret_pairs(collection, request.user)
        context["shown"] = compared(collection, direction, number_in(request, "number"))
    except CounterpartError as error:
        context["trouble"] = str(error)
    return show(request, "console/annotators/side_by_side.html", collection, context)


@members_only.reads("pools/<slug:name>/")
def pool(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(related_pools(), name=name)
    context = {
        "pool": pool,
        "answer": PoolAnswer.model_validate(pool),
        "annotators": _agreement_lines(overlap(pool)),
        "rounds": pool.rounds.all(),
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


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills("add-annotator/")
def annotator_add(request: StaffRequest) -> HttpResponse:
    """Choose a ``?kind=`` and its options, and upload its weights; a job adds the annotator."""
    kind = request.GET.get("kind", "overlap")
    if kind not in kinds():
        raise Http404(f"Unknown kind. Choose one of {', '.join(kinds())}.")
    known = {"collection": request.GET.get("collection")}
    form = AnnotatorForm(request.POST or None, request.FILES or None, kind=kind, initial=known)
    if request.method == "POST" and form.is_valid():
        params = form.params()
        title = f"Add annotator {params['name']}"
        return follow(start_with_uploads(title, add_annotator.name, params, form.uploads(), by=request.user))
    context = {"form": form, "kind": kind, "kinds": kinds(), "properties": kind_of(kind)}
    return render(request, "console/annotators/annotator_add.html", context, status=422 if form.errors else 200)
