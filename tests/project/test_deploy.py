"""The manifests for Kubernetes agree with the project. They are parsed, as no cluster is here."""

import re
import runpy
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.registry import CollectorRegistry

from config.settings import QUEUES
from console.prometheus import Work
from core.site.version import software_version
from tests.project.deployed import documented_settings, options_of
from tests.project.names import ROOT

BASE = ROOT / "deploy/base"
FOLDERS = [BASE, ROOT / "deploy/autoscaled", ROOT / "deploy/gpu"]
THREADS = {"OMP_NUM_THREADS", "NUMBA_NUM_THREADS"}


@cache
def manifests() -> list[dict[str, Any]]:
    """All objects, and the patch of every pod."""
    files = [path for folder in FOLDERS for path in folder.glob("*.yaml") if path.name != "kustomization.yaml"]
    return [one for path in files for one in yaml.safe_load_all(path.read_text())]


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in manifests() if one["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in manifests()
        if one["kind"] in ("Deployment", "Job")
    }


def containers() -> Iterator[dict[str, Any]]:
    for pod in pods().values():
        yield from (*pod["containers"], *pod.get("initContainers", []))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_a_kustomization_names_exists_and_no_manifest_is_left_out(folder):
    made = yaml.safe_load((folder / "kustomization.yaml").read_text())
    files = [*made["resources"], *(patch["path"] for patch in made["patches"] if "path" in patch)]
    files += [env for each in made.get("configMapGenerator", []) for env in each["envs"]]
    assert [name for name in files if not (folder / name).exists()] == []
    assert {path.name for path in folder.iterdir()} - {"kustomization.yaml"} <= set(files)


def test_the_image_is_that_of_this_version():
    (image,) = yaml.safe_load((BASE / "kustomization.yaml").read_text())["images"]
    assert image["newTag"] == software_version()
    assert {container["image"] for container in containers() if "image" in container} == {image["name"]}


def test_the_overlay_for_gpus_changes_workers_of_searches_alone():
    made = yaml.safe_load((ROOT / "deploy/gpu/kustomization.yaml").read_text())
    (patch,), (image,) = made["patches"], made["images"]
    assert patch["target"] == {"kind": "Deployment", "name": "worker-retrieval"}
    changes = {change["path"].split("/containers/0/")[1]: change["value"] for change in yaml.safe_load(patch["patch"])}
    assert changes == {"image": image["name"], "resources/limits/nvidia.com~1gpu": 1}
    assert image["newTag"] == f"{software_version()}-gpu"


def test_every_setting_is_a_documented_one_and_none_is_a_secret():
    given = dict(line.split("=", 1) for line in (BASE / "settings.env").read_text().splitlines())
    assert set(given) <= documented_settings()
    assert not {"SECRET_KEY", "DATABASE_URL", "REDIS_URL", "METRICS_TOKEN", "PROLIFIC_TOKEN"} & set(given)
    assert {one["name"] for container in containers() for one in container.get("env", [])} == THREADS


def test_every_pod_gets_the_settings_and_the_secret():
    for pod in (pods()["every"], pods()["migrate"]):
        (container,) = pod["containers"]
        assert container["envFrom"] == [
            {"configMapRef": {"name": "counterpart"}},
            {"secretRef": {"name": "counterpart"}},
        ]


def test_every_command_is_one_that_there_is():
    commands = [container["command"] for container in containers() if "command" in container]
    assert len(commands) == len(QUEUES) + 3  # the clock, the migration, and whether it is done
    for command in commands:
        assert options_of(command)


@pytest.mark.parametrize("queue", QUEUES)
def test_every_queue_has_workers_of_its_own(queue):
    (container,) = pods()[f"worker-{queue}"]["containers"]
    options = options_of(container["command"])
    assert (options["queues"], options["concurrency"] == 1) == ([queue], queue == "retrieval")
    assert {one["name"] for one in container["env"]} == THREADS


def test_every_probe_is_answered(client, db):
    probes = {
        name: probe["httpGet"]["path"] for one in containers() for name, probe in one.items() if name.endswith("Probe")
    }
    assert probes == {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
    assert [client.get(path).status_code for path in probes.values()] == [200] * 3


def test_nothing_is_killed_before_it_could_end():
    graceful = runpy.run_path(str(ROOT / "config/gunicorn.py"))["graceful_timeout"]
    site = pods()["site"]
    pause = int(site["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert site["terminationGracePeriodSeconds"] > graceful + pause
    assert {pods()[f"worker-{queue}"]["terminationGracePeriodSeconds"] for queue in QUEUES} == {120}


def test_autoscaling_reads_figures_that_there_are_and_scales_workers_that_there_are(db):
    registry = CollectorRegistry()
    registry.register(Work())
    figures = generate_latest(registry).decode()
    for name, scaler in named("ScaledObject").items():
        assert scaler["spec"]["scaleTargetRef"]["name"] == name
        assert name in named("Deployment")
        (trigger,) = scaler["spec"]["triggers"]
        read = re.findall(r"counterpart_\w+\{[^}]*\}", trigger["metadata"]["query"])
        assert len(read) == 2
        assert all(f"{figure} " in figures for figure in read), read
        assert {*re.findall('queue="(.*?)"', " ".join(read))} == {name.removeprefix("worker-")}


def test_no_container_is_privileged_and_each_has_a_limit_of_memory():
    for name in ("every", "migrate"):
        pod = pods()[name]
        assert (pod["securityContext"]["runAsNonRoot"], pod["automountServiceAccountToken"]) == (True, False)
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            context = container["securityContext"]
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
    assert all("memory" in pods()[name]["containers"][0]["resources"]["limits"] for name in pods() if name != "every")


def test_labels_select_their_own_pods():
    for name, deployment in named("Deployment").items():
        if name != "every":
            labels = deployment["spec"]["template"]["metadata"]["labels"]
            assert deployment["spec"]["selector"]["matchLabels"] == labels == {"app": "counterpart", "part": name}
    for kind in ("Service", "PodDisruptionBudget"):
        (one,) = named(kind).values()
        selector = one["spec"]["selector"]
        assert selector.get("matchLabels", selector) == {"app": "counterpart", "part": "site"}
