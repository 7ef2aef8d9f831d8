"""The page of a round's guide and consent sheet: a researcher writes them and sees what workers will read."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.judging.wage_terms import wage_terms
from annotation.models import ConsentWords
from annotation.people.consent import sheet_text, words_of, write_words
from annotation.people.guides import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_EXAMPLES,
    Guide,
    guide_of,
    has_guide,
    image_of,
    with_guide,
)
from console.fields import text_field
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_in
from corpus.models import Image
from hits.models import Round
from hits.task_types import task_type_of


class GuideForm(forms.Form):
    """Fields that are left as they are suggested store nothing of the guide's own."""

    researchers = text_field(
        "Who asks, and why", help_text="A sentence or two, with the ethics approval if there is one."
    )
    payment_terms = text_field(
        "Payment terms",
        rows=2,
        help_text="How and when you pay workers of the browser pool. A platform pays by itself.",
    )
    contact = forms.CharField(
        max_length=ConsentWords._meta.get_field("contact").max_length,
        label="Contact",
        help_text="A mail address or a web page.",
    )
    language = forms.ChoiceField(
        choices=[("", "as in the worker's browser"), *settings.LANGUAGES], label="Language of the pages"
    )

    def __init__(self, round: Round, words: dict[str, str], data: Any = None) -> None:
        super().__init__(data, initial={**words, "language": round.language})
        for field in self.fields.values():
            field.required = False
        self.round = round
        self.task = task_type_of(round)
        self.guide = guide_of(round)
        usual = self.task.wordings[round.wording]
        self.usual_levels = {str(level): [self.task.labels[level], text] for level, text in usual.levels.items()}
        self.usual_examples: list[dict[str, Any]] = [
            {"image": None, "level": one.level, "sentence": one.sentence, "why": one.why} for one in usual.examples
        ]
        if has_guide(self.task):
            self._add_levels()
            self._add_examples()

    def _add(self, name: str, label: str, initial: str | None, *, at_most: int = LONGEST_TEXT, **options: Any) -> None:
        self.fields[name] = forms.CharField(label=label, initial=initial, max_length=at_most, **options)

    def _add_levels(self) -> None:
        is_fixed = self.round.state != "draft"
        for level, (name, text) in (self.guide.levels or self.usual_levels).items():
            self._add(f"name-{level}", f"Level {level}", name, at_most=LONGEST_NAME, disabled=is_fixed)
            self._add(f"text-{level}", "Meaning", text, disabled=is_fixed)

    def _add_examples(self) -> None:
        shown = self.guide.examples or self.usual_examples
        images = Image.objects.filter(pk__in=[one["image"] for one in shown])
        keys: dict[Any, str] = dict(images.values_list("pk", "key"))
        for place in range(MOST_EXAMPLES):
            one = shown[place] if place < len(shown) else {}
            self._add(f"sentence-{place}", f"Example {place + 1}", one.get("sentence"), required=False)
            self.fields[f"level-{place}"] = forms.TypedChoiceField(
                required=False, coerce=int, choices=[*self.task.labels.items()], initial=one.get("level"), label="Level"
            )
            self._add(f"why-{place}", "Why", one.get("why"), required=False)
            self._add(f"image-{place}", "Picture", keys.get(one.get("image")), required=False)

    @property
    def consent_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.base_fields]

    @property
    def level_fields(self) -> list[list[forms.BoundField]]:
        return [[self[f"name-{level}"], self[f"text-{level}"]] for level in self.usual_levels if has_guide(self.task)]

    @property
    def example_fields(self) -> list[list[forms.BoundField]]:
        return [
            [self[f"{part}-{place}"] for part in ("sentence", "level", "why", "image")]
            for place in range(MOST_EXAMPLES)
        ]

    def words(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ("researchers", "payment_terms", "contact")}

    def written(self) -> Guide:
        """Return the guide as it is typed. Raises CounterpartError for a picture that the collection does not have."""
        chosen = self.cleaned_data
        levels = {level: [chosen[f"name-{level}"], chosen[f"text-{level}"]] for level in self.usual_levels}
        examples = [self._example(place) for place in range(MOST_EXAMPLES) if chosen[f"sentence-{place}"]]
        return Guide(levels if levels != self.usual_levels else {}, examples if examples != self.usual_examples else [])

    def _example(self, place: int) -> dict[str, Any]:
        said = {part: self.cleaned_data[f"{part}-{place}"] for part in ("image", "level", "sentence", "why")}
        return said | {"image": image_of(self.round, said["image"]).pk if said["image"] else None}


@researchers_only.fills("rounds/<slug:name>/consent/")
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
                write_words(round, actor=request.user.get_username(), guide=guide, **words)
                Round.objects.filter(pk=round.pk).update(language=language)
                if round.state == "draft":
                    return redirect("hit", name, 1)
                messages.success(
                    request, "Saved. Workers agree to this sheet and see this guide from their next HIT on."
                )
                return redirect("round", name)
    task = form.task
    if has_guide(task):
        task = with_guide(task, round.wording, guide, lambda _, image: f"{reverse('picture', args=[image])}?size=320")
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
