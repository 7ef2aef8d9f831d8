"""The items of a qualification test: for practice, the level that fits each item best, and why."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.models import QualificationTest, TestItem
from annotation.people.qualification_questions import LONGEST_REASON, Best, set_best
from console.pagination import page_of
from console.permissions import StaffRequest, researchers_only
from console.places import show
from console.refusals import refusals_in
from core.text import counted
from hits.question import RIGHT_LEVELS, Level

ITEMS = 6  # a page: five screens of a phone


class BestLevelsForm(forms.Form):
    """A level and a reason for each of some items; sentences have a reason only."""

    def __init__(self, items: list[TestItem], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.items = items
        for item in items:
            if item.image_id:
                right = [(level.value, level.label) for level in Level if level in RIGHT_LEVELS[item.polarity]]
                self.fields[f"best-{item.place}"] = forms.TypedChoiceField(
                    choices=[("", "not said"), *right],
                    coerce=int,
                    empty_value=None,
                    required=False,
                    initial=item.best_level,
                    label="Fits best",
                )
            self.fields[f"reason-{item.place}"] = forms.CharField(
                required=False, initial=item.reason, max_length=LONGEST_REASON, label="Why"
            )

    def rows(self) -> list[tuple[TestItem, list[forms.BoundField]]]:
        """Return each item with its fields."""
        return [(item, [field for field in self if field.name.endswith(f"-{item.place}")]) for item in self.items]

    def best_levels(self) -> dict[int, Best]:
        """Return the level and the reason of each item, by its place."""
        chosen = self.cleaned_data
        places = [item.place for item in self.items]
        return {place: Best(chosen.get(f"best-{place}"), chosen[f"reason-{place}"]) for place in places}


@researchers_only.fills("tests/<slug:name>/")
def test_items(request: StaffRequest, name: str) -> HttpResponse:
    """The items of a test, with the level that fits each best and why. Practice shows both; neither is graded."""
    test = get_object_or_404(QualificationTest.objects.select_related("collection"), name=name)
    page = page_of(request, test.items.select_related("image", "caption"), size=ITEMS)
    form = BestLevelsForm(list(page), request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            changed = set_best(test, form.best_levels(), actor=request.user.get_username())
            messages.success(request, f"{counted(changed, 'item')} changed.")
            return redirect(request.get_full_path())
    context = {"test": test, "form": form, "rows": page, "tab": "samples"}
    status = 422 if form.errors else 200
    return show(request, "console/collections/test_items.html", test.collection, context, status=status)
