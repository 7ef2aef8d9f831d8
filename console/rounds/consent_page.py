"""The page of a round's guide and consent sheet: a researcher writes them and sees what workers will read."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.judging.wage_terms import wage_terms
from annotation.people.consent import sheet_text, words_of, write_words
from annotation.people.guides import has_guide, with_guide
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_in
from console.rounds.guide_form import GuideForm
from hits.models import Round


@researchers_only.fills
def round_consent(request: StaffRequest, name: str) -> HttpResponse:
    """Write what the round says of its own; ``show`` shows it as workers read it and stores nothing."""
    round = get_object_or_404(Round.objects.select_related("pool__collection"), name=name)
    form = GuideForm(round, words_of(round), request.POST or None)
    words, guide, language = words_of(round), form.guide, round.language
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            words, language = form.words(), form.cleaned_data["language"]
            guide = form.written() if has_guide(form.task) else guide
            if "show" not in request.POST:
                return _keep(request, form)
    task = form.task
    if has_guide(task):
        task = with_guide(
            task, round.wording, guide, lambda place, image: f"{reverse('picture', args=[image])}?size=320"
        )
    context = {
        "round": round,
        "form": form,
        "sheet": sheet_text(words, language),
        "task": task,
        "terms": wage_terms(round),
        "version": round.consent_words.last(),
        **task.guide(round.wording),
    }
    return render(request, "console/rounds/consent.html", context, status=422 if form.errors else 200)


def _keep(request: StaffRequest, form: GuideForm) -> HttpResponse:
    round = form.round
    guide = form.written() if has_guide(form.task) else None
    write_words(round, actor=request.user.get_username(), guide=guide, **form.words())
    Round.objects.filter(pk=round.pk).update(language=form.cleaned_data["language"])
    if round.state == "draft":
        return redirect("hit", round.name, 1)
    messages.success(request, "Saved. Workers agree to this sheet and see this guide from their next HIT on.")
    return redirect("round", round.name)
