"""What audits estimate of a run, on its page and for programs: no finished round and no release is needed."""

import json

import pytest

from console.leaderboard.round_boards import estimates_of_run
from counterpart_statistics.auditing.model_scores import WHICH
from evaluation.models import Run
from mitl.models import Pool
from tests.commands import output_of
from tests.console.api.calls import caller_for
from tests.dataset.releasing import release_version
from tests.evaluation.analysing import analyse, written
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import AUDIT, half_judged, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pool(lasting) -> Pool:
    return known_pool()


@pytest.fixture(scope="module")
def run(pool, lasting) -> Run:
    """A model that half an audit says something of."""
    half_judged(pool)
    return register_in_order(pool.collection, lasting)


def test_the_leaderboard_leads_to_the_estimates_of_audits(member, run):
    assert "/rounds/audit/results/?show=estimates" in member.get("/collections/zoo/leaderboard/").text


def test_the_page_of_a_run_has_its_estimates_on_each_audit(member, pool, run):
    published(pack("later", pool, **AUDIT))  # nothing is judged: it says nothing of the run
    page = member.get(f"/runs/{run.pk}/")
    ((round, boards),) = page.context["estimates"]
    assert round.name == "audit"
    assert [[row.model for row in one.board.rows] for one in boards] == [["outsider"], ["outsider"]]
    assert all("outsider" in (step.model, step.following) for one in boards for step in one.differences)
    assert page.text.count("of the pool of audit") == 2
    assert "/rounds/audit/results/?show=estimates" in page.text


def test_a_program_reads_the_estimates_of_a_run(person, run):
    (answer,) = caller_for(person, "evaluation:read").get(f"/runs/{run.pk}").json()["estimates"]
    ((_, boards),) = estimates_of_run(run)
    cells = {(column.part, column.metric): cell for one in boards for column, cell in one.board.rows[0].cells.items()}
    assert answer["round"] == "audit"
    assert {
        (one["direction"], one["metric"]): (one["value"], one["low"], one["high"]) for one in answer["figures"]
    } == {place: (cell.figure.value, cell.figure.low, cell.figure.high) for place, cell in cells.items()}
    assert {one["kind"] for one in answer["figures"]} == {"estimated"}


def of_looks(text: str) -> list[dict]:
    looks = [look for side in json.loads(text)["directions"] for look in side["looks"]]
    return [row for look in looks for name in ("models", "differences") for row in look[name]]


ROWS = {
    "estimate": lambda queries: json.loads(output_of("estimate", "audit", "--json", "--queries", queries))["estimates"],
    "differences": lambda queries: json.loads(output_of("estimate", "audit", "--json", "--queries", queries))[
        "differences"
    ],
    "live": lambda queries: of_looks(analyse("live", "audit", "--looks", "2", "--json", "--queries", queries)),
}


@pytest.mark.parametrize("queries", ["these", "like"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_every_row_of_figures_names_its_question_and_level(run, rows, queries):
    found = rows(queries)
    assert found
    for row in found:
        assert (row["question"], row["level"]) in ((queries, 0.95), (queries, 0.975))


def test_rows_of_files_versions_and_programs_name_theirs_too(person, pool, run, tmp_path):
    table = written(tmp_path, "live", "audit", "--looks", "2")
    assert {(row["question"], row["level"]) for row in table} == {("these", "0.975")}
    (answer,) = caller_for(person, "evaluation:read").get(f"/runs/{run.pk}").json()["estimates"]
    assert {(one["question"], one["level"]) for one in answer["figures"]} == {("these", 0.95)}
    audit = judge_all(published(pack("whole", pool, **AUDIT)))
    release_version("v1", collection=pool.collection, sample=pool.sample, rounds=[audit])
    scores = json.loads(output_of("evaluate", "--version", "v1", "--json"))
    cells = [cell for model in scores.values() for part in ("i2t", "t2i") for cell in model[part].values()]
    assert {(cell["question"], cell["level"]) for cell in cells} == {("like", 0.95)}
    assert "question,level" in output_of("evaluate", "--version", "v1", "--csv").splitlines()[0]


@pytest.mark.parametrize("queries", ["these", "like"])
@pytest.mark.parametrize("surface", ["estimate", "live"])
def test_every_text_of_figures_says_what_its_intervals_are_of(run, surface, queries):
    read = {
        "estimate": lambda: output_of("estimate", "audit", "--queries", queries),
        "live": lambda: analyse("live", "audit", "--looks", "2", "--queries", queries),
    }
    text = read[surface]()
    words = {"these": "what judging all 14 queries of the pool would say;", "like": "of queries drawn like these 14."}
    assert words[queries] in text
    assert words["like" if queries == "these" else "these"] not in text
    assert f"for {WHICH[queries]}" in text
    assert "outsider: its own first items were not asked. Where no annotator found them they count as no match." in text
