"""Automatic rejections: what their sample proves, and how a version keeps them."""

from counterpart_statistics.random_pairs import exact_interval
from dataset.versions.file_rows import PairVerdict
from dataset.versions.rejections import ALLOWED, Rejections, counted_rejections, read_rejections, rejected_rows
from dataset.versions.rendering import render_rejections

NO, YES = PairVerdict(4, votes=1), PairVerdict(1, votes=1)
ZONE = frozenset((str(image), str(caption)) for image in range(20) for caption in range(30))
SAMPLE = frozenset(sorted(ZONE)[:100])


def rejections(asked: frozenset = SAMPLE) -> Rejections:
    return Rejections("round-1", 0.02, ZONE, asked)


def test_the_figures_count_the_matches_of_the_sample():
    verdicts = dict.fromkeys(SAMPLE, NO) | {min(SAMPLE): YES}
    found = rejections().figures(verdicts, (1, 2))
    assert (found["pairs"], found["asked"], found["matches"], found["counted"]) == (600, 100, 1, True)
    assert found["at_most"] == round(exact_interval(1, 100, 0.05)[1], 4) <= ALLOWED


def test_a_pair_of_the_sample_without_a_verdict_counts_as_a_match():
    verdicts = {pair: NO for pair in SAMPLE if pair != min(SAMPLE)}
    assert rejections().figures(verdicts, (1, 2))["matches"] == 1


def test_pairs_without_a_verdict_are_rejected():
    verdicts = dict.fromkeys(SAMPLE, NO)
    assert counted_rejections([rejections()], verdicts, (1, 2)) == ZONE - SAMPLE


def test_a_zone_whose_sample_holds_too_many_matches_rejects_nothing():
    verdicts = dict.fromkeys(SAMPLE, NO) | dict.fromkeys(sorted(SAMPLE)[:5], YES)
    assert counted_rejections([rejections()], verdicts, (1, 2)) == set()


def test_the_file_holds_what_was_rejected(tmp_path):
    written = [rejections(), Rejections("round-2", 0.01, frozenset({("7", "8")}), frozenset())]
    assert read_rejections(render_rejections(written, tmp_path)) == written
    assert len(list(rejected_rows(written))) == 601
