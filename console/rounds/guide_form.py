"""The form of what a round says to its workers: parts of the consent sheet, names of the levels, examples, language."""

from typing import Any

from django import forms
from django.conf import settings

from annotation.models import ConsentWords
from annotation.people.guides import LONGEST_NAME, LONGEST_TEXT, MOST_EXAMPLES, Guide, guide_of, has_guide, image_of
from corpus.models import Image
from hits.models import Round
from hits.question import Level
from hits.task_types import task_type_of


class GuideForm(forms.Form):
    """Fields that are left as they are suggested store nothing of the guide's own."""

    researchers = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Who asks, and why",
        help_text="A sentence or two, with the ethics approval if there is one.",
    )
    payment_terms = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Payment terms",
        help_text="How and when you pay workers of the browser pool. A platform pays by itself.",
    )
    contact = forms.CharField(
        required=False,
        max_length=ConsentWords._meta.get_field("contact").max_length,
        label="Contact",
        help_text="A mail address or a web page.",
    )
    language = forms.ChoiceField(
        required=False, choices=[("", "as in the worker's browser"), *settings.LANGUAGES], label="Language of the pages"
    )

    def __init__(self, round: Round, words: dict[str, str], data: Any = None) -> None:
        super().__init__(data, initial={**words, "language": round.language})
        self.round = round
        self.task = task_type_of(round)
        self.usual = self.task.wordings[round.wording]
        self.guide = guide_of(round)
        if has_guide(self.task):
            self._add_levels()
            self._add_examples()

    def _add_levels(self) -> None:
        for level, label in self.task.labels.items():
            name, text = self.guide.levels.get(str(level), [label, self.usual.levels[Level(level)]])
            is_fixed = self.round.state != "draft"
            self.fields[f"name-{level}"] = forms.CharField(
                initial=name, max_length=LONGEST_NAME, disabled=is_fixed, label=f"Level {level}"
            )
            self.fields[f"text-{level}"] = forms.CharField(
                initial=text, max_length=LONGEST_TEXT, disabled=is_fixed, label="Meaning"
            )

    def _add_examples(self) -> None:
        usual = [{"image": None, **vars(one)} for one in self.usual.examples]
        shown = self.guide.examples or usual
        keys: dict[Any, str] = dict(
            Image.objects.filter(pk__in=[one["image"] for one in shown]).values_list("pk", "key")
        )
        for place in range(MOST_EXAMPLES):
            one = shown[place] if place < len(shown) else {}
            self.fields[f"sentence-{place}"] = forms.CharField(
                required=False, initial=one.get("sentence"), max_length=LONGEST_TEXT, label=f"Example {place + 1}"
            )
            self.fields[f"level-{place}"] = forms.TypedChoiceField(
                required=False, coerce=int, choices=[*self.task.labels.items()], initial=one.get("level"), label="Level"
            )
            self.fields[f"why-{place}"] = forms.CharField(
                required=False, initial=one.get("why"), max_length=LONGEST_TEXT, label="Why"
            )
            self.fields[f"image-{place}"] = forms.CharField(
                required=False, initial=keys.get(one.get("image")), label="Picture", max_length=120
            )

    @property
    def consent_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("researchers", "payment_terms", "contact", "language")]

    @property
    def level_fields(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"name-{level}"], self[f"text-{level}"]) for level in self.task.labels if has_guide(self.task)]

    @property
    def example_fields(self) -> list[list[forms.BoundField]]:
        parts = ("sentence", "level", "why", "image")
        places = range(MOST_EXAMPLES if has_guide(self.task) else 0)
        return [[self[f"{part}-{place}"] for part in parts] for place in places]

    def words(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ("researchers", "payment_terms", "contact")}

    def written(self) -> Guide:
        """Return the guide as it is typed. Raises CounterpartError for a picture that the collection does not have."""
        chosen = self.cleaned_data
        usual = {level: (label, self.usual.levels[Level(level)]) for level, label in self.task.labels.items()}
        typed = {level: (chosen[f"name-{level}"], chosen[f"text-{level}"]) for level in self.task.labels}
        levels = {str(level): [*pair] for level, pair in typed.items()} if typed != usual else {}
        examples = [self._example(place) for place in range(MOST_EXAMPLES) if chosen[f"sentence-{place}"]]
        own = [
            {"image": None, **{part: vars(one)[part] for part in ("level", "sentence", "why")}}
            for one in self.usual.examples
        ]
        return Guide(levels, examples if examples != own else [])

    def _example(self, place: int) -> dict[str, Any]:
        chosen = self.cleaned_data
        key = chosen[f"image-{place}"]
        image = image_of(self.round, key).pk if key else None
        return {
            "image": image,
            "level": chosen[f"level-{place}"],
            "sentence": chosen[f"sentence-{place}"],
            "why": chosen[f"why-{place}"],
        }
