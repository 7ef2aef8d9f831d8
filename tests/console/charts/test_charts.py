"""Charts on pages say what the command ``analyse`` says, in the colours of the page."""

import csv
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import Worker
from annotation.work.retirement import retire
from console.charts.plots import OFFERED, TITLES, offered, state_of
from evaluation.analyses import helps
from hits.models import Control
from mitl.charts.drawing import LIGHT
from tests.annotation.cast import candidates
from tests.annotation.controlling import make_topped_up, vote
from tests.annotation.task_types.rounds import make_asked, vote_on_first
from tests.console.conftest import answer_rightly
from tests.dataset.reviewing import give_level
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_round, make_sample

PDF = ("pdf", "%PDF", "application/pdf")


def test_every_chart_is_a_subject_of_the_command():
    assert {subject for offered in OFFERED.values() for subject in offered} == set(TITLES)
    assert set(TITLES) < set(helps())


@pytest.mark.parametrize("subject", ["workers", "agreement"])
def test_a_charts_figures_are_those_of_the_command(member, charted, db, tmp_path, subject):
    made = make_topped_up()
    vote(made.hits.get(), 1, 4), vote(made.hits.get(), 2, 4)
    call_command("analyse", subject, "round-1", csv=tmp_path / "table.csv")
    page = charted(f"/charts/round/round-1/{subject}/")
    assert f"analyse {subject} round-1" in page.text
    assert member.get(f"/charts/round/round-1/{subject}.csv").text == (tmp_path / "table.csv").read_text("utf-8")
    rows = list(csv.DictReader((tmp_path / "table.csv").open(encoding="utf-8")))
    assert len(page.context["made"]["rows"]) == len(rows)
    assert page.context["heads"] == list(rows[0])


def test_a_chart_is_downloaded_on_white_ground(member, charted, db):
    answer_rightly(make_round())
    charted("/charts/round/round-1/workers/")
    for form, begins, kind in (("svg", "<svg", "image/svg+xml"), ("png", "\x89PNG", "image/png"), PDF):
        answer = member.get(f"/charts/round/round-1/workers.{form}")
        assert answer.content.decode("latin-1").startswith(begins)
        assert answer["Content-Type"] == kind
        assert answer["Content-Disposition"] == f'attachment; filename="round-1-workers.{form}"'


def test_a_version_shows_how_many_positives_its_queries_have_and_the_charts_of_its_answers(charted, site):
    assert "analyse workers --version v1" in charted("/charts/version/v1/workers/").text
    page = charted("/charts/version/v1/positives/").text
    assert "analyse positives v1" in page
    assert 'class="panel" role="img"' in page


def test_a_round_about_captions_shows_its_result_and_no_chart_of_pairs(member, charted, db, commit):
    with commit(execute=True):
        vote_on_first(make_asked(), 1, 1, 4, rest=4)
    page = charted("/charts/round/captions/determinate/")
    assert "analyse determinate captions" in page.text
    assert len(page.context["made"]["rows"]) == 20
    assert [name for name, _ in page.context["subjects"]] == ["determinate"]
    assert member.get("/charts/round/captions/agreement/").status_code == 404


def test_only_a_round_that_asks_for_reasons_has_a_chart_of_them(db):
    made = make_round()
    assert "reasons" not in offered("round", made)
    made.reasons = True
    assert "reasons" in offered("round", made)


def test_a_pool_shows_the_hubs_of_its_annotators(member, charted, db):
    sample = make_sample(make_collection(images=12))
    make_pool(sample, [make_retrieval(make_annotator(name), sample, depth=10) for name in ("a", "b")])
    page = charted("/charts/pool/pool/hubness/")
    assert "--annotators a,b" in page.text
    assert {"skewness_1", "hs_sum", "largest_hub"} <= set(page.context["heads"])
    assert len(page.context["made"]["rows"]) == 4
    assert "?show=hubness#charts" in member.get("/pools/pool/").text


def test_a_round_without_answers_says_why_it_has_no_chart(member, charted, db):
    make_round()
    assert charted("/charts/round/round-1/workers/").context["made"]["trouble"]
    assert member.get("/charts/round/round-1/workers.csv").status_code == 404


def test_unknown_charts_are_not_found(member, site):
    of_round = ("other/workers/", "done/positives/", "done/workers.pdf", "done/bias/", "open/determinate/")
    for path in (*(f"round/{one}" for one in of_round), "worker/done/workers/"):
        assert member.get(f"/charts/{path}").status_code == 404, path


def test_a_chart_follows_what_is_retired_and_reviewed(site, person):
    made = site.round
    control, states = made.controls.first(), [state_of(made, "workers")]
    of_version = state_of(site.version, "workers")
    Control.objects.filter(pk=control.pk).update(state="suspected")
    retire(control, reason="It shows two dogs.", actor="robin")
    states.append(state_of(made, "workers"))
    give_level(made, candidates(made.hits.first())[0], 4, by=person)
    states.append(state_of(made, "workers"))
    assert len(set(states)) == 3
    assert state_of(site.version, "workers") != of_version


def test_every_colour_of_charts_is_a_variable_of_the_pages(settings):
    tokens = (settings.BASE_DIR / "static/console/tokens.css").read_text("utf-8")
    assert all(f"--{name}: light-dark({value}," in tokens for name, value in LIGHT.items())


def test_a_chart_of_simulated_answers_is_marked(member, charted, site):
    page = charted("/charts/round/done/workers/")
    assert 'role="note"' not in page.text
    Worker.objects.update(simulated=True)
    assert 'role="note"' in member.get("/rounds/done/results/?show=workers").text


def test_no_page_builds_a_command_line():
    modules = [path for path in Path("console").rglob("*.py") if "management" not in path.parts]
    assert [str(path) for path in modules if "argparse" in path.read_text()] == []
