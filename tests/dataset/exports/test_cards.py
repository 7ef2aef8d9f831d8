"""What goes with every export: the card, which names what its folder holds, and who made the version."""

import json
import re
from datetime import date
from functools import partial

import mlcroissant
import pyarrow.parquet as pq
import pytest
import yaml

from annotation.models import Worker
from core.errors import CounterpartError
from core.files.stored_files import write_file
from dataset.exports import FORMATS, SUMS, export_version
from dataset.exports.card import columns_of
from dataset.exports.citing import semantic_version
from dataset.exports.licences import SPDX, licence_url, on_the_hub, spdx_id
from dataset.exports.statements import certainty
from dataset.judged.verdict_worth import why_no_percentage
from dataset.releases.credits import Credits
from dataset.releases.verification import verify_version
from dataset.versions.version_files import manifest_bytes
from tests.annotation.cast import answer
from tests.dataset.judged.figures import FIGURES, REPEATED, SILENT
from tests.dataset.releasing import release as release_round
from tests.factories import make_annotator, make_collection, make_retrieval, make_round

pytestmark = pytest.mark.django_db

CREDITS = Credits(
    title="Zoo matches",
    authors="Ada Lovelace <0000-0001-5000-0007>; Alan Turing",
    description="Animals, judged.",
    url="10.1234/zoo.v1",
    contact="ada@example.org",
    licence="CC-BY-4.0",
)


@pytest.fixture
def round():
    """Three candidates of levels 1, 2 and 4 in a collection with pictures."""
    made = make_round(make_collection(images=8, pictures=True), candidates=3)
    answer(made.hits.get(), 1, 2, 4)
    made.pool.retrievals.add(make_retrieval(make_annotator("words"), made.pool.sample))
    return made


@pytest.fixture
def release(round):
    return partial(release_round, round, partial=True, about=CREDITS)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def section(card: str, title: str) -> list[str]:
    """The lines of a section of a card."""
    return card.partition(f"## {title}\n\n")[2].partition("\n## ")[0].strip().splitlines()


def named_files(card: str) -> dict[str, list[str]]:
    """The files that a card names, each with its columns."""
    lines = (re.findall(r"`([^`]+)`", line) for line in section(card, "Files"))
    return {name: columns for name, *columns in lines}


def test_a_card_names_exactly_the_files_of_its_folder_and_their_columns(release, out):
    version = release()
    for format in FORMATS:
        export_version(version, format=format, out=out / format)
        assert (out / format / "v1_about/README.md").exists()
    for path in sorted(out.rglob("README.md")):
        about = path.parent.name == "v1_about"
        folder, text = path.parent.parent if about else path.parent, path.read_text()
        below = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
        others = {path.relative_to(folder).as_posix(), SUMS, *(() if about else (n for n in below if "_about/" in n))}
        files = named_files(text)
        assert set(files) == below - others, path
        columns = {name: [column.name for column in columns_of(folder / name)] for name in files}
        assert files == columns
        assert ("counterpart_metrics FOLDER" in text) == (folder.name in ("eccv-json", "qrels")), path
        described = {re.match(r"- `([^`]+)`", line)[1] for line in section(text, "Columns")}
        assert described <= {column for listed in columns.values() for column in listed}


def test_a_second_export_into_a_folder_joins_the_card_of_the_first(release, out):
    version = release()
    for format in ("eccv-json", "parquet", "eccv-json"):
        export_version(version, format=format, out=out)
    assert {"v1_image_to_caption.json", "v1_pairs.parquet"} <= set(
        named_files((out / "v1_about/README.md").read_text())
    )


def test_a_card_that_a_person_has_changed_is_not_replaced(release, out):
    version = release()
    export_version(version, format="eccv-json", out=out)
    card = out / "v1_about/README.md"
    card.write_text("mine")
    with pytest.raises(CounterpartError, match="1 file .*: .*README.md"):
        export_version(version, format="parquet", out=out)
    assert (card.read_text(), (out / "v1_pairs.parquet").exists()) == ("mine", False)


def test_a_card_says_who_made_the_version_and_how_to_cite_it(release, out):
    export_version(release(), format="eccv-json", out=out)
    card = (out / "v1_about/README.md").read_text()
    assert card.startswith("# Zoo matches\n\nVersion v1: judged matches")
    assert "\nAnimals, judged.\n" in card
    assert section(card, "How to cite")[:4] == [
        "- Authors: [Ada Lovelace](https://orcid.org/0000-0001-5000-0007), Alan Turing",
        "- Found at: https://doi.org/10.1234/zoo.v1",
        "- Contact: ada@example.org",
        "- Licence: CC-BY-4.0",
    ]
    assert "    @misc{v1," in section(card, "How to cite")


def test_a_version_of_an_earlier_program_verifies_and_is_exported_with_a_card(release, out):
    version = release()
    for name in ("credits", "annotators"):
        del version.manifest[name]
    del version.manifest["provenance"]["round-1"]["simulated_workers"]
    version.manifest_sha256 = ""
    version.save()
    write_file("versions/v1/manifest.json", manifest_bytes(version.manifest))
    assert {check.name for check in verify_version(version) if check.passed} >= {"files", "contents"}
    export_version(version, format="croissant", out=out)
    card = (out / "v1_about/README.md").read_text()
    assert "Not stated: title" in card
    assert not list(out.rglob("CITATION.cff"))
    assert json.loads((out / "croissant.json").read_text())["name"] == "v1"
    metadata = mlcroissant.Dataset(jsonld=str(out / "croissant.json")).metadata
    assert (metadata.ctx.issues.errors, metadata.creators) == (set(), [])


def test_simulated_workers_are_called_programs(release, out):
    Worker.objects.update(simulated=True)
    version = release()
    assert version.manifest["provenance"]["round-1"]["simulated_workers"] == 1
    export_version(version, format="eccv-json", out=out)
    card = (out / "v1_about/README.md").read_text()
    assert "1 simulated worker" in card
    assert "All 3 votes are simulated" in card
    assert json.loads((out / "v1_about/manifest.json").read_text())["counts"]["simulated_votes"] == 3


CFF = {
    *("cff-version", "message", "type", "title", "authors", "version", "date-released", "abstract", "doi", "url"),
    *("license", "license-url", "contact"),
}  # of the format's keys those that we write


@pytest.mark.parametrize(("format", "folders"), [("qrels", ["v1_about"]), ("hf", ["v1_about", "."])])
def test_a_citation_file_lies_where_a_card_does_and_has_the_formats_shape(release, out, format, folders):
    export_version(release(), format=format, out=out)
    for folder in folders:
        cited = yaml.safe_load((out / folder / "CITATION.cff").read_text())
        assert {"cff-version", "message", "title", "authors"} <= set(cited) <= CFF
        assert (cited["cff-version"], cited["type"], cited["title"]) == ("1.2.0", "dataset", "Zoo matches")
        assert cited["authors"] == [
            {"name": "Ada Lovelace", "orcid": "https://orcid.org/0000-0001-5000-0007"},
            {"name": "Alan Turing"},
        ]
        assert re.fullmatch(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+", cited["doi"])  # of the format's schema
        assert (cited["license"], cited["version"], cited["contact"]) == (
            "CC-BY-4.0",
            "v1",
            [{"email": "ada@example.org"}],
        )
        assert date.fromisoformat(cited["date-released"])


def test_croissant_is_valid_and_names_creators_with_orcid_ids_and_the_licences_address(release, out):
    export_version(release("zoo_large"), format="croissant", out=out)
    metadata = json.loads((out / "croissant.json").read_text())
    ada = "https://orcid.org/0000-0001-5000-0007"
    assert metadata["creator"] == [
        {"@type": "sc:Person", "name": "Ada Lovelace", "@id": ada, "sameAs": ada},
        {"@type": "sc:Person", "name": "Alan Turing"},
    ]
    assert metadata["name"] == "Zoo matches"
    assert metadata["description"].startswith("Animals, judged. Version zoo_large: ")
    assert metadata["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert metadata["url"] == "https://doi.org/10.1234/zoo.v1"
    assert metadata["version"] == "1.0.0+zoo-large"
    assert "{{Ada Lovelace} and" in metadata["citeAs"]
    read = mlcroissant.Dataset(jsonld=str(out / "croissant.json")).metadata
    assert read.ctx.issues.errors == set()
    assert not [warning for warning in read.ctx.issues.warnings if "version" in warning.lower()]
    assert [person.name for person in read.creators] == ["Ada Lovelace", "Alan Turing"]


@pytest.mark.parametrize(
    ("name", "version"),
    [("v2", "2.0.0"), ("v2-1", "2.1.0"), ("2024-11-05", "2024.11.5"), ("zoo_large", "1.0.0+zoo-large")],
)
def test_a_versions_name_becomes_a_semantic_version(name, version):
    assert semantic_version(name) == version


def test_coco_names_authors_address_and_version(release, out):
    (path,) = export_version(release(), format="coco", out=out)
    coco = json.loads(path.read_text())
    assert (coco["info"]["contributor"], coco["info"]["url"], coco["info"]["version"]) == (
        "Ada Lovelace, Alan Turing",
        "https://doi.org/10.1234/zoo.v1",
        "v1",
    )
    assert coco["info"]["description"].startswith(
        "Zoo matches: matches of version v1 of zoo by lenient labels. Animals"
    )
    assert coco["licenses"] == [{"id": 1, "name": "CC-BY-4.0", "url": "https://spdx.org/licenses/CC-BY-4.0"}]


def test_a_citation_in_own_words_is_used_as_it_is(release, out):
    cited = "Lovelace and Turing. Zoo matches: a dataset. 2026."
    export_version(release(about=Credits(citation=cited)), format="croissant", out=out)
    assert f"\n    {cited}\n" in (out / "v1_about/README.md").read_text()
    assert json.loads((out / "croissant.json").read_text())["citeAs"] == cited


def test_licences_are_known_by_their_spdx_ids_in_any_case():
    assert spdx_id("cc-by-4.0") == "CC-BY-4.0"
    assert licence_url("ours") == ""
    assert on_the_hub("ODbL-1.0") == {"license": "odbl"}
    assert on_the_hub("https://example.org/terms") == {
        "license": "other",
        "license_name": "https://example.org/terms",
        "license_link": "https://example.org/terms",
    }
    assert len({known.lower() for known in SPDX}) == len(SPDX)


def test_hugging_faces_images_hold_the_pictures_if_asked(release, out):
    export_version(release(), format="hf", out=out, pictures=True)
    path = out / "data/images.parquet"
    rows = pq.read_table(path).to_pylist()
    assert {row["image"]["bytes"][:2] for row in rows} == {b"\xff\xd8"}
    assert rows[0]["image"]["path"] == rows[0]["file_name"] == "0.jpg"
    assert rows[0]["image_id"] == "0"
    declared = json.loads(pq.read_schema(path).metadata[b"huggingface"])["info"]["features"]
    assert declared["image"] == {"_type": "Image"}
    assert declared["width"] == {"dtype": "int32", "_type": "Value"}
    assert list(declared) == pq.read_schema(path).names
    front = yaml.safe_load((out / "README.md").read_text().split("---\n")[1])
    (images,) = (info for info in front["dataset_info"] if info["config_name"] == "images")
    assert {"name": "image", "dtype": "image"} in images["features"]


def test_pictures_are_refused_where_the_format_has_no_room(release, out):
    with pytest.raises(CounterpartError, match="parquet takes no --pictures"):
        export_version(release(), format="parquet", out=out, pictures=True)
    assert not out.exists()


def test_a_card_says_how_many_verdicts_are_wrong_or_why_it_says_nothing(release, out):
    version = release()
    said = {}
    for name, figures in (("lone", FIGURES), ("repeated", REPEATED), ("silent", SILENT), ("earlier", {"found": 0.98})):
        version.manifest["certainty"] = figures
        said[name] = list(certainty(version))
    assert said["lone"][0] == "Of 480 verdicts about 36 are wrong (18 to 74)."
    assert (said["lone"][-1], said["repeated"][-1]) == (
        why_no_percentage(FIGURES),
        "60 pairs have several votes, which say how hard pairs are.",
    )
    assert said["silent"] == [SILENT["silent"]]
    assert [len(lines) for lines in said.values()] == [4, 3, 1, 1]
    export_version(release(name="v2"), format="hf", out=out)
    assert section((out / "README.md").read_text(), "Certainty")
