"""The files that people expect of a project agree with the rest of it."""

import tomllib

import yaml

from tests.project.names import ROOT


def lint_commands() -> list[str]:
    """The commands of the Makefile's target ``lint``."""
    _, rules = (ROOT / "Makefile").read_text().split("\nlint:", 1)
    lines = rules.splitlines()[1:]
    recipe = lines[: next(number for number, line in enumerate(lines) if not line.startswith("\t"))]
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe]


def test_pre_commit_runs_the_same_checks_as_make_lint():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["entry"] for hook in local["hooks"]] == lint_commands()
    assert all(hook["always_run"] and not hook["pass_filenames"] for hook in local["hooks"])


def test_the_citation_has_the_version_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", project["version"])
    assert citation["license"] == project["license"]
