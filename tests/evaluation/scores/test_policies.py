"""--ties and --missing: what a tie or a list that ends early is worth."""

import json

import pytest
from django.core.management import CommandError

from evaluation.models import Score
from tests.commands import output_of
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def evaluate(tmp_path):
    """Twelve images of a caption each. The run ties every right image with one other, whose id is one larger or, for
    the last, 0; trec_eval prefers the larger id as text."""
    zoo = make_collection(images=12, captions_each=1)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    lines = [f"{c} Q0 {i} 1 0.5 x" for c in range(12) for i in (c, (c + 1) % 12)]
    (tmp_path / "tied_t2i.run").write_text("\n".join(lines))
    (tmp_path / "short.json").write_text(json.dumps({"t2i": {str(c): [(c + c % 2) % 12] for c in range(12)}}))

    def evaluate(file: str, *arguments: str, metric: str = "R@1") -> dict:
        printed = output_of("evaluate", "--version", "v1", "--rankings", tmp_path / file, "--json", *arguments)
        return {model: row["t2i"][metric]["value"] for model, row in json.loads(printed).items()}

    return evaluate


def test_equal_scores_are_ordered_as_the_policy_says(evaluate):
    assert evaluate("tied_t2i.run") == {"tied_t2i": 1.0}  # in the order of the file
    # Ours is wrong only for the last caption, whose tied image was imported first.
    assert evaluate("tied_t2i.run", "--ties", "counterpart")["tied_t2i"] == pytest.approx(11 / 12)
    # As text, the right image has the larger id for 9 (tied with 10) and 11 (tied with 0) alone.
    assert evaluate("tied_t2i.run", "--ties", "trec")["tied_t2i"] == pytest.approx(2 / 12)


def test_the_interval_of_ties_is_from_the_worst_to_the_best_order_and_is_not_stored(evaluate):
    assert evaluate("tied_t2i.run", "--ties", "interval") == {"tied_t2i (highest)": 1.0, "tied_t2i (lowest)": 0.0}
    assert Score.objects.get(metric="R@1").value == 1.0


def test_lists_that_end_early_leave_an_interval(evaluate):
    interval = ("--missing", "interval")
    assert evaluate("short.json", *interval) == {"short (highest)": 0.5, "short (lowest)": 0.5}
    # The right image may come second where it is not listed.
    assert evaluate("short.json", *interval, metric="R@5") == {"short (highest)": 1.0, "short (lowest)": 0.5}


def test_lists_that_end_early_are_refused_on_request(evaluate, tmp_path):
    evaluate("short.json", "--missing", "refuse")  # as long as the matches are many: one
    (tmp_path / "none.json").write_text(json.dumps({"t2i": {str(c): [c][: c % 2] for c in range(12)}}))
    with pytest.raises(CommandError, match="none on v1, .*6 lists"):
        evaluate("none.json", "--missing", "refuse")


def test_what_contradicts_itself_is_refused(evaluate):
    with pytest.raises(CommandError, match="Choose interval"):
        evaluate("short.json", "--missing", "interval", "--ties", "interval")
    with pytest.raises(CommandError, match="These rankings have no scores"):
        evaluate("short.json", "--ties", "trec")
