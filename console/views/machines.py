"""Machines and pools: what they are, what they named, and how far they agree."""

from django.core.cache import cache
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from console import side_by_side as rows
from console.access import members_only
from console.curves import learns, training_of
from console.examples import Example, examples
from console.pages import count_of, page_of
from core.errors import CounterpartError
from corpus.models import Collection
from hits.models import Round
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.pooling import Overlap, overlap

EXAMPLES = 4
INDEXED = ("image_id", "caption_id", "annotator_id", "direction")  # the order of a pool's proposals in their index


@members_only
@require_safe
def machines(request: HttpRequest) -> HttpResponse:
    rows = Annotator.objects.annotate(n_retrievals=count_of(Retrieval, "annotator"))
    return render(request, "console/machines.html", {"rows": page_of(request, rows)})


@members_only
@require_safe
def machine(request: HttpRequest, name: str) -> HttpResponse:
    """One machine, with examples from one of its retrievals: ``?retrieval=``, from query ``?from=`` on."""
    found = get_object_or_404(Annotator, name=name)
    retrievals = list(found.retrievals.select_related("collection", "sample")[:20])
    wanted = request.GET.get("retrieval", "")
    shown = next((r for r in retrievals if str(r.pk) == wanted), retrievals[0] if retrievals else None)
    start = int(request.GET["from"]) if request.GET.get("from", "").isdecimal() else 0
    context = {
        "machine": found,
        "training": training_of(found),
        "learns": learns(found),
        "retrievals": retrievals,
        "shown": shown,
        "start": start,
        "previous": max(0, start - EXAMPLES),
        "following": start + EXAMPLES,
        **_lists_of(shown, start),
    }
    return render(request, "console/machine.html", context)


def _lists_of(retrieval: Retrieval | None, start: int) -> dict[str, list[Example] | str]:
    if retrieval is None:
        return {}
    try:
        return dict(examples(retrieval, start=start, queries=EXAMPLES))
    except CounterpartError as error:
        return {"trouble": str(error)}


@members_only
@require_safe
def side_by_side(request: HttpRequest, name: str) -> HttpResponse:
    """What each machine names for one query of a collection: ``?from=image`` or captions, the query's ``?number=``."""
    collection = get_object_or_404(Collection, name=name)
    direction = Direction.IMAGE_TO_CAPTION if request.GET.get("from") == "image" else Direction.CAPTION_TO_IMAGE
    number = int(request.GET["number"]) if request.GET.get("number", "").isdecimal() else 0
    context: dict[str, object] = {"collection": collection, "from_images": direction == Direction.IMAGE_TO_CAPTION}
    try:
        context["shown"] = rows.side_by_side(collection, direction, number)
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/side_by_side.html", context)


@members_only
@require_safe
def pools(request: HttpRequest) -> HttpResponse:
    rows = Pool.objects.select_related("collection", "sample").annotate(n_rounds=count_of(Round, "pool"))
    return render(request, "console/pools.html", {"rows": page_of(request, rows)})


@members_only
@require_safe
def pool(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Pool.objects.select_related("collection", "sample"), name=name)
    agreement = _overlap_of(found)
    context = {
        "pool": found,
        "directions": found.proposals.values("direction").annotate(n=Count("pk")).order_by("direction"),
        "machines": list(zip(agreement.annotators, agreement.shared.tolist(), agreement.alone.tolist(), strict=True)),
        "rounds": found.rounds.all(),
        "proposals": found.proposals.select_related("image", "caption", "annotator").order_by(*INDEXED)[:8],
    }
    return render(request, "console/pool.html", context)


def _overlap_of(pool: Pool) -> Overlap:
    """A pool never changes, so its overlap is counted once."""
    key = f"overlap-{pool.pk}-{pool.n_proposals}"
    known = cache.get(key)
    if known is None:
        known = overlap(pool)
        cache.set(key, known, timeout=86_400)
    return known
