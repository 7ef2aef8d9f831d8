"""The forms that plan a round, pack one from a pool, take judgments into it and count its votes."""

from itertools import count
from typing import Any, ClassVar, cast

from django import forms
from django.db.models import Model
from django.forms.boundfield import BoundWidget

from annotation.judging.wage_terms import fair_reward_suggested
from console.fields import ParametersForm, UploadField, choose
from console.refusals import refusals_in
from console.rounds.plan_path import MEASURED, SHAPING, gallery_sizes
from console.upload_jobs import JUDGMENT_FILES
from core.parameters import Parameters
from core.text import MAX_NAME
from corpus.models import Collection, Sample
from counterpart_statistics.audits import STOP_RECALL
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.releases.release_parameters import METHODS_IN_WORDS, AggregateParameters
from hits.models import Round
from hits.packing.designs import DEFAULT, DESIGNS
from hits.rounds.round_parameters import AUDIT_SHARE, NewRoundParameters, RoundParameters, unused_by
from hits.task_types import TASK_TYPES
from hits.task_types.levels import LEVELS
from mitl.annotators import is_untrained
from mitl.models import Annotator, Pool
from mitl.search.search_parameters import PoolingParameters

QUERIES = 60  # of each kind, that the plan of a round suggests

WORDS = {
    "collection": ("Collection", ""),
    "queries": ("Sample", "An existing sample of queries, in place of a new one."),
    "images": ("Query images", "For each, annotators search captions."),
    "captions": ("Query captions", "For each, annotators search images."),
    "direction": ("Lists", ""),
    "annotators": ("Annotators", ""),
    "top_k": ("Pairs of each list", "The best of each query and annotator."),
    "accept_blind": ("Accept blind lists", "Also those with equal scores, or that mostly begin with the same items."),
    "control_depth": ("Control depth", "Negative controls come from outside this many places of each list."),
    "engine": ("Search", "Both find the same lists."),
    "cascade": ("Cascade", "An annotator whose lists limit what cross-encoders score."),
    "cascade_depth": ("Cascade depth", "Places of those lists that are scored."),
    "rerank": ("Re-ranking", "csls, is or rgm, or one and then rgm; optional settings, such as csls:k=10."),
    "task": ("Question", ""),
    "design": ("HIT", ""),
    "positives": ("Right images", "A match source, such as a version, from which rankings are made."),
    "replication": ("Votes for each pair", ""),
    "reasons": ("Ask for reasons at levels 2 and 3", ""),
    "judge": ("How much should it measure?", ""),
    "audit_share": ("Audit share", "Of the queries, from 0.01 to 1."),
    "stop_recall": ("Stop at this recall", "Of an audit with likely matches: share of the matches found."),
    "stop_width": ("Stop at this width", "Of an audit with likely matches: widest interval of mAP@R."),
    "top_up": ("Further votes", "At most, on a pair on which workers disagree."),
    "sharing": ("Repeats within a HIT", ""),
    "seed": ("Seed", "Drawn at random and recorded if it is left empty."),
    "reward": ("Reward", "US dollars for a HIT."),
    "ceiling": ("Ceiling", "US dollars that the round may cost, fees included."),
    "round": ("Name of the round", ""),
}
"""Parameter → its label and its hint on the page; a command has the help of the declaration."""
OPTIONS = {
    "direction": {"both": "of images and of captions", "i2t": "captions of images", "t2i": "images of captions"},
    "engine": {"blocked": "exact, by blocks", "faiss": "FAISS, a flat index"},
    "judge": {judge: label for judge, (label, _) in MEASURED.items()},
    "sharing": {"avoid": "none, where the pool allows it", "allow": "allowed"},
}
"""Parameter → its values in words."""


class PackForm(ParametersForm):
    """How a pool is packed into a round, the pay of workers, and the ceiling of the cost."""

    act: ClassVar[type[Parameters]] = NewRoundParameters
    parameters: Any
    """The valid parameters, made of what was sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_rows()
        finish_fields(self)

    def _offer_rows(self) -> None:
        """Offer existing rows where parameters name them."""

    def clean_round(self) -> str:
        name: str = self.cleaned_data["round"]
        if Round.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Round {name} already exists. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            with refusals_in(self):
                self.parameters = self.act(**self.chosen())
        return cleaned


def finish_fields(form: forms.Form) -> None:
    """Give the fields their words and the defaults of the chosen type of task, and remove those that it does not use. A
    field that was sent nevertheless stays: it is refused."""
    # Not form["task"]: a bound field keeps the label that it has when it is first read.
    task = TASK_TYPES.get(str((form.data or form.initial).get("task")), LEVELS)
    unused = unused_by(task)
    form.fields = {name: field for name, field in form.fields.items() if name not in unused or name in form.data}
    for name, field in form.fields.items():
        field.label, field.help_text = WORDS.get(name, (field.label, ""))
        if isinstance(field, forms.ChoiceField) and name in OPTIONS:
            field.choices = [*OPTIONS[name].items()]
    form.fields["reward"].initial = fair_reward_suggested(form.initial)
    form.fields["task"].choices = [(one.name, one.label) for one in TASK_TYPES.values()]  # type: ignore[attr-defined]
    if "design" in form.fields:
        designs = [(name, f"{one.candidates} pairs, {one.controls} controls: {name}") for name, one in DESIGNS.items()]
        form.fields["design"].widget.choices = [("", f"as usual: {DEFAULT}"), *designs]
    defaults = {"replication": task.replication, "audit_share": AUDIT_SHARE, "stop_recall": STOP_RECALL}
    for name in defaults.keys() & form.fields.keys():
        form.fields[name].widget.attrs["placeholder"] = defaults[name]
    for name in {*SHAPING} & form.fields.keys():
        form.fields[name].widget.attrs["data-redraws"] = ""


def free_name(stem: str) -> str:
    """Return the stem with the first number that neither a round nor a pool has."""
    names = (f"{stem[: MAX_NAME - 12]}-{number}" for number in count(1))
    taken = {*Round.objects.values_list("name", flat=True), *Pool.objects.values_list("name", flat=True)}
    return next(name for name in names if not taken & {name, f"{name}-pool"})


class JudgmentsForm(ParametersForm):
    """A file of judgments that were given elsewhere, and how to read it."""

    act = JudgmentParameters
    field_order = ("file", "format", "items")
    file = UploadField(
        suffixes=(*JUDGMENT_FILES, ".gz", ".zip"),
        label="Judgments",
        help_text="A file, plain, gzipped or zipped, or a zip file of the folder of a Potato project's annotations.",
    )
    items = UploadField(
        suffixes=(*JUDGMENT_FILES, ".gz"),
        required=False,
        label="Data file of the project",
        help_text="Of Potato and tables: the image and the caption of each item.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["format"].required = False


class AggregateForm(ParametersForm):
    """How votes become verdicts."""

    act = AggregateParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["method"].widget = forms.RadioSelect(choices=[(name, name) for name in METHODS_IN_WORDS])

    @property
    def methods(self) -> list[tuple[BoundWidget, str, str]]:
        """The button of each method, what it assumes, and when to choose it."""
        return [(button, *words) for button, words in zip(self["method"], METHODS_IN_WORDS.values(), strict=True)]


class AnnotatorsField(forms.ModelMultipleChoiceField):
    """Annotators to choose from; those that have to be trained first are marked."""

    def label_from_instance(self, annotator: Model) -> str:
        return f"{annotator} (not trained yet)" if is_untrained(cast(Annotator, annotator)) else str(annotator)


class PlanForm(PackForm):
    """The parameters of a round, with the existing collections, samples and annotators to choose from."""

    act = RoundParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._suggest_for_collection()

    def _offer_rows(self) -> None:
        annotators = Annotator.objects.all()
        choose(self, "collection", forms.ModelChoiceField(Collection.objects.all(), empty_label=None))
        choose(self, "annotators", AnnotatorsField(annotators, widget=forms.CheckboxSelectMultiple))
        self.fields["annotators"].initial = [one.name for one in annotators if not is_untrained(one)]
        samples = forms.ModelChoiceField(Sample.objects.all(), required=False, empty_label="draw a new sample")
        choose(self, "queries", samples)
        choose(self, "cascade", forms.ModelChoiceField(annotators, required=False, empty_label="none"))

    def _suggest_for_collection(self) -> None:
        """Suggest the newest collection, a name, at most 60 images and 60 captions, and a control depth that leaves
        most of the gallery to negative controls."""
        named = (self.data or self.initial).get("collection")
        collection = Collection.objects.filter(name=named).first() or Collection.objects.order_by("pk").last()
        if collection is None:
            return
        sizes = gallery_sizes(collection)
        depth = min(PoolingParameters.control_depth, min(sizes.values()) // 3)
        suggested = {
            "collection": collection.name,
            "round": free_name(collection.name),
            "control_depth": max(PoolingParameters.top_k, depth),
            **{name: min(QUERIES, size) for name, size in sizes.items()},
        }
        for name, value in suggested.items():
            self.fields[name].initial = value
