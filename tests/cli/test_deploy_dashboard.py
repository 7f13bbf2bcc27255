"""The Grafana dashboard and the routing of Alertmanager, compared with the metrics and the alarms that there are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from rollbook.server.health.metrics import Metrics
from tests.ports import free_port
from tests.server.health.test_metrics import LABELS, scrape
from tests.server.serving import started, until
from tests.storage.terminating import certificate
from tests.tools import tool

DEPLOY: Final = Path(__file__).parents[2] / "service" / "deploy"
DASHBOARD: Final[dict[str, Any]] = json.loads((DEPLOY / "grafana" / "rollbook.json").read_text(encoding="utf-8"))
PANELS: Final = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS: Final = [target["expr"] for panel in PANELS for target in panel["targets"]]
SUFFIXES: Final = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("_total",), "gauge": ("",)}
ADDED: Final = {"instance", "job", "loop", "process", "verdict"}
"""Labels of Prometheus itself, of background loops, of the processes of a service, and of audits."""


def exported(tmp_path: Path) -> set[str]:
    """The names of the series of a process, and of a service with TLS and two workers, which has more.

    Supervisors export metrics with labels from the first sample on, so a process that has had no call lacks some there.
    """
    shown = certificate(tmp_path, "shown")
    metrics = f"127.0.0.1:{free_port()}"
    flags = ["--listen", "127.0.0.1:0", "--web", "off", "--metrics", metrics, "--workers", "2"]
    tls = ["--tls-cert", str(shown.certificate), "--tls-key", str(shown.key)]
    serve = [sys.executable, "-m", "rollbook", "serve", "--data", str(tmp_path / "data"), *flags, *tls]
    with started(serve) as service:
        assert service.address

        def names() -> set[str]:
            return names_of(text_string_to_metric_families(scrape(metrics)))

        # The counts of the workers arrive a moment after they listen.
        until(lambda: {"rollbook_serving", "rollbook_tls_not_after_seconds"} <= names(), service)
        return names() | names_of(Metrics().registry.collect())


def names_of(families: Iterable[Metric]) -> set[str]:
    """The names of the series of these families."""
    metrics = [family for family in families if not family.name.endswith("_created")]
    return {family.name + suffix for family in metrics for suffix in SUFFIXES.get(family.type, ())}


@pytest.mark.skipif(sys.platform != "linux", reason="more than one worker needs Linux")
def test_every_expression_uses_metrics_that_the_service_exports(tmp_path: Path) -> None:
    """A panel of a metric that was renamed stays empty, which looks like good news."""
    used = {name for text in EXPRESSIONS for name in re.findall(r"\b(?:rollbook|process)_\w+", text)}
    there = exported(tmp_path)
    assert set() == used - there
    # Every metric of the service has a panel.
    families = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in used}
    known = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in there if name.startswith("rollbook_")}
    assert set() == known - families


def test_labels_are_those_that_the_service_sets() -> None:
    """Sums by a label that does not exist would have one line."""
    labels = {
        label.strip()
        for text in EXPRESSIONS
        for group in re.findall(r" by \(([^)]*)\)", text)
        for label in group.split(",")
    }
    named = {
        label
        for panel in PANELS
        for target in panel["targets"]
        for label in re.findall(r"{{(\w+)}}", target.get("legendFormat", ""))
    }
    assert labels | named <= LABELS | ADDED
    assert named <= labels


def test_prometheus_reads_every_expression(tmp_path: Path) -> None:
    """Promtool reads them as recording rules."""
    rules = [
        {"record": f"panel:{number}", "expr": text.replace("$__rate_interval", "1m")}
        for number, text in enumerate(EXPRESSIONS)
    ]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(
        [tool("promtool"), "check", "rules", tmp_path / "rules.yaml"], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr


def test_panels_are_explained_and_do_not_overlap() -> None:
    """Every panel has a description, a number of its own, and a place of its own on the grid of 24 columns."""
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        assert panel["type"] == "row" or panel["description"]
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_alarms_are_routed_by_the_severities_that_they_have() -> None:
    """Each route and each silence names alarms and severities that there are."""
    routing = yaml.safe_load((DEPLOY / "alertmanager.yaml").read_text(encoding="utf-8"))
    (group,) = yaml.safe_load((DEPLOY / "alarms.yaml").read_text(encoding="utf-8"))["groups"]
    assert {"page", "ticket"} == {rule["labels"]["severity"] for rule in group["rules"]}
    assert [["severity = page"]] == [route["matchers"] for route in routing["route"]["routes"]]
    alarms = {rule["alert"] for rule in group["rules"]}
    silenced = re.findall(r"Rollbook\w+", json.dumps(routing["inhibit_rules"]))
    assert silenced
    assert set(silenced) <= alarms


def test_alertmanager_reads_the_routing() -> None:
    """Amtool accepts the file, and sends each severity to its receiver."""
    file = DEPLOY / "alertmanager.yaml"
    subprocess.run([tool("amtool"), "check-config", file], check=True)
    for severity, receiver in (("page", "on-call"), ("ticket", "tickets")):
        words = [tool("amtool"), "config", "routes", "test", f"--config.file={file}", f"severity={severity}"]
        assert receiver == subprocess.check_output(words, text=True).strip()
