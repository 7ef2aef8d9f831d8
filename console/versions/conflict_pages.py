"""The result of a merge before its release: live counts, and the list of conflicts between people and sources."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from console.permissions import StaffRequest, members_only, stewards_only
from console.versions.merge_forms import MergedForm
from core.errors import CounterpartError
from core.text import counted
from corpus.models import Caption, Image
from crowd.posting.publication import BEGUN
from dataset.releases.release_parameters import MergeParameters
from dataset.reviews.conflicts import conflicts_of, merge_counts, pair_ids, preview, send_to_review
from dataset.secret_controls import refuse_secret_pairs
from dataset.versions.contents import Contents
from hits.models import Round
from hits.task_types import ON_PAIRS


class MergeForm(MergedForm):
    """The fields of a release that decide on its conflicts."""

    def offered(self) -> dict[str, forms.Field]:
        of_merge = {"queries", *MergeParameters.form_fields()}
        return {name: field for name, field in super().offered().items() if name in of_merge}

    def contents(self) -> Contents:
        """Raises CounterpartError for an invalid merge, and as ``preview`` does."""
        chosen = dict(self.cleaned_data)
        queries = chosen.pop("queries")
        rounds = list(chosen.pop("rounds"))
        return preview(queries, rounds=rounds, policies=MergeParameters(**chosen).policies())


@members_only.reads
@never_cache
def release_counts(request: HttpRequest) -> JsonResponse:
    """The counts of the release that the query's fields describe; asked by release.js while they are filled in."""
    try:
        return JsonResponse(merge_counts(_contents(MergeForm(request.GET))))
    except CounterpartError as error:
        return JsonResponse({"error": str(error)})


@members_only.reads
def conflicts(request: HttpRequest) -> HttpResponse:
    """The conflicts of the release that the query's fields describe."""
    form = MergeForm(request.GET if "queries" in request.GET else None, initial=_newest())
    context: dict[str, Any] = {"form": form, "query": request.GET.urlencode()}
    if form.is_bound:
        try:
            contents = _contents(form)
            refuse_secret_pairs(form.cleaned_data["queries"].collection, request.user)
            rows = Paginator(conflicts_of(contents), 50).get_page(request.GET.get("page"))
            ids = pair_ids(form.cleaned_data["queries"].collection, [(one.image, one.caption) for one in rows])
            images = Image.objects.in_bulk([image for image, _ in ids.values()])
            captions = Caption.objects.in_bulk([caption for _, caption in ids.values()])
            pairs = [ids[one.image, one.caption] for one in rows]
            lines = [(one, images[pair[0]], captions[pair[1]]) for one, pair in zip(rows, pairs, strict=True)]
            context |= {"counts": merge_counts(contents), "rows": rows, "lines": lines}
        except CounterpartError as error:
            context["trouble"] = str(error)
    return render(request, "console/versions/conflicts.html", context, status=422 if "trouble" in context else 200)


@stewards_only.acts
def conflicts_send(request: StaffRequest) -> HttpResponse:
    """Put the conflicts of the release in ``query`` into the reviewers' queue."""
    query = request.POST.get("query", "")
    form = MergeForm(QueryDict(query))
    try:
        found = conflicts_of(_contents(form))
        collection = form.cleaned_data["queries"].collection
        sent = send_to_review(collection, found)
        messages.success(request, f"{counted(sent, 'conflict')} sent to review; the others were there or are settled.")
        return redirect(reverse("queue", args=[collection.name]) + "?reason=conflict")
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("conflicts")


def _newest() -> dict[str, Any]:
    """Return the fields that suggest the newest round that was published or judged elsewhere."""
    newest = Round.objects.filter(BEGUN, task__in=ON_PAIRS).first()
    return {"rounds": [newest.name], "queries": newest.pool.sample.name} if newest else {}


def _contents(form: MergeForm) -> Contents:
    if not form.is_valid():
        of_fields = [f"{field.label}: {field.errors[0]}" for field in form if field.errors]
        raise CounterpartError(" ".join([*of_fields, *form.non_field_errors()]))
    return form.contents()
