"""The consent sheet of a round: a researcher writes who asks, how they pay and whom to contact."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.judging.wage_terms import wage_terms
from annotation.models import ConsentWords
from annotation.people.consent import sheet_text, words_of, write_words
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_in
from hits.models import Round
from hits.task_types import task_type_of


class ConsentForm(forms.Form):
    """The parts of the consent sheet that are written for the round."""

    researchers = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Who asks, and why",
        help_text="A sentence or two, with the ethics approval if there is one.",
    )
    payment_terms = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Payment terms",
        help_text="How and when you pay workers of the browser pool. A platform pays by itself.",
    )
    contact = forms.CharField(
        required=False,
        max_length=ConsentWords._meta.get_field("contact").max_length,
        label="Contact",
        help_text="A mail address or a web page.",
    )


@researchers_only.fills
def round_consent(request: StaffRequest, name: str) -> HttpResponse:
    """Write the round's parts of the sheet; ``show`` shows the sheet with them and stores nothing."""
    round = get_object_or_404(Round, name=name)
    form = ConsentForm(request.POST or None, initial=words_of(round))
    words = words_of(round)
    if request.method == "POST" and form.is_valid():
        words = form.cleaned_data
        if "show" not in request.POST:
            with refusals_in(form):
                return _keep(request, round, words)
    context = {
        "round": round,
        "form": form,
        "sheet": sheet_text(words),
        "task": task_type_of(round),
        "terms": wage_terms(round),
        "version": round.consent_words.last(),
    }
    return render(request, "console/rounds/consent.html", context, status=422 if form.errors else 200)


def _keep(request: StaffRequest, round: Round, words: dict[str, str]) -> HttpResponse:
    write_words(round, actor=request.user.get_username(), **words)
    if round.state == "draft":
        return redirect("hit", round.name, 1)
    messages.success(request, "Saved. Workers agree to this sheet before their next HIT.")
    return redirect("round", round.name)
