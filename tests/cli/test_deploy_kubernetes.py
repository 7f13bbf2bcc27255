"""The manifests in `service/deploy/kubernetes`, parsed and compared with each other; no cluster runs them here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from rollbook.server.configuration.flags import FLAGS

DEPLOY: Final = Path(__file__).parents[2] / "service" / "deploy"
FILES: Final = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OBJECTS: Final[list[dict[str, Any]]] = [
    each for file in FILES for each in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]
KINDS: Final = {
    "StatefulSet": "apps/v1",
    "Service": "v1",
    "PodDisruptionBudget": "policy/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "Ingress": "networking.k8s.io/v1",
}
SETS: Final = {each["metadata"]["name"]: each["spec"] for each in OBJECTS if each["kind"] == "StatefulSet"}
PODS: Final = {name: spec["template"]["spec"] for name, spec in SETS.items()}
CONTAINERS: Final = [each for pod in PODS.values() for each in (*pod["containers"], *pod.get("initContainers", ()))]


def of(kind: str) -> dict[str, Any]:
    """The specifications of all objects of this kind, by name."""
    return {each["metadata"]["name"]: each["spec"] for each in OBJECTS if each["kind"] == kind}


def test_every_object_is_of_a_known_kind_and_says_in_its_file_what_was_tested() -> None:
    """All are in one namespace, and no name is used twice for a kind."""
    assert all(KINDS[each["kind"]] == each["apiVersion"] for each in OBJECTS)
    assert {"rollbook"} == {each["metadata"]["namespace"] for each in OBJECTS}
    assert len({(each["kind"], each["metadata"]["name"]) for each in OBJECTS}) == len(OBJECTS)
    assert all("Only parsed by the tests" in file.read_text(encoding="utf-8") for file in FILES)


def test_what_refers_to_another_object_names_one_that_there_is() -> None:
    """Selectors find the pods, and ingresses the ports of services."""
    for name, spec in SETS.items():
        assert {"app": name} == spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        assert spec["serviceName"] in of("Service")
    for selector in [each["selector"] for each in of("Service").values()]:
        assert selector["app"] in SETS
    for kind, key in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        assert SETS.keys() == of(kind).keys() == {spec[key]["matchLabels"]["app"] for spec in of(kind).values()}
    for ingress in of("Ingress").values():
        (path,) = ingress["rules"][0]["http"]["paths"]
        there = path["backend"]["service"]
        assert there["port"]["name"] in {port["name"] for port in of("Service")[there["name"]]["ports"]}
        assert ingress["tls"][0]["hosts"] == [ingress["rules"][0]["host"]]


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda container: container["name"])
def test_containers_have_few_rights_and_bounded_memory_and_mount_what_there_is(container: dict[str, Any]) -> None:
    """The same as in compose: a root that cannot be changed, no capabilities, an exact image."""
    (pod,) = [pod for pod in PODS.values() if container in (*pod["containers"], *pod.get("initContainers", ()))]
    assert pod["securityContext"]["runAsNonRoot"]
    rights = container["securityContext"]
    assert rights == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"]["memory"]
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+", container["image"])
    volumes = {volume["name"] for volume in pod["volumes"]} | {"data"}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    if script := container.get("args") or (container.get("command", ())[2:] if container["name"] == "keys" else ()):
        subprocess.run(["bash", "-n"], input=script[0], text=True, check=True)


def test_replicas_of_service_and_store_are_what_quorum_needs() -> None:
    """One of three servers of the store, and one of two services, may be away, also while machines are drained."""
    (rollbook,) = PODS["rollbook"]["containers"]
    settings = {each["name"]: each.get("value") for each in rollbook["env"]}
    assert settings.keys() <= {setting.variable for setting in FLAGS}
    assert (2, 3) == (SETS["rollbook"]["replicas"], SETS["valkey"]["replicas"])
    assert ("quorum", "2") == (settings["ROLLBOOK_DURABILITY"], settings["ROLLBOOK_REPLICAS"])
    server, sentinel = PODS["valkey"]["containers"]
    assert '"min-replicas-to-write 1"' in server["args"][0]
    assert re.search(r"sentinel monitor main \S+ 6379 2\"", sentinel["args"][0])
    assert {1} == {spec["maxUnavailable"] for spec in of("PodDisruptionBudget").values()}
    assert PODS["rollbook"]["terminationGracePeriodSeconds"] >= 30
    # A restart does not bring a store back: only readiness may depend on it.
    assert "/healthz" == rollbook["readinessProbe"]["httpGet"]["path"]
    assert "/healthz" != rollbook["livenessProbe"]["httpGet"]["path"]
    (page,) = of("Ingress")["rollbook-page"]["rules"]
    assert settings["ROLLBOOK_WEB_HOST"] == page["host"]
