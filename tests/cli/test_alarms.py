"""The alarms of `service/deploy/alarms.yaml`, evaluated by promtool on scenes and on series of real services."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import yaml

from rollbook.storage.embedded.server import find_server
from rollbook.v1 import identity_pb2, match_pb2
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.cli.test_serve import ANY_PORT, SERVE
from tests.ports import free_port
from tests.server.health.test_metrics import Numbers, number, read, scrape
from tests.server.serving import Service, started, until
from tests.storage.servers import running
from tests.storage.terminating import certificate
from tests.tools import tool

ALARMS: Final = Path(__file__).parents[2] / "service" / "deploy" / "alarms.yaml"
RULES: Final = {
    rule["alert"]: rule
    for group in yaml.safe_load(ALARMS.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
}
MINUTE: Final = 60


@dataclass(frozen=True)
class Scene:
    """Series, sampled every 15 s, and when the alarm is silent and when it fires."""

    alarm: str
    series: dict[str, str]
    silent: int
    """A time in seconds at which the alarm does not fire yet."""
    fires: int | None
    """A time at which it fires; None: never."""


def proofs(seconds: str) -> dict[str, str]:
    """A histogram of one proof a second, all slower than the bucket below `seconds`."""
    buckets = (
        {"0.2": "0", "0.5": "0", "1.0": "15", "+Inf": "15"}
        if seconds == "slow"
        else dict.fromkeys(("0.2", "0.5", "1.0", "+Inf"), "15")
    )
    return {f'rollbook_store_proof_seconds_bucket{{le="{le}"}}': f"0+{step}x80" for le, step in buckets.items()}


SCENES: Final = [
    Scene("RollbookIsGone", {'up{job="rollbook"}': "1x3 0x20"}, 75, 150),
    Scene("RollbookDoesNotServe", {"rollbook_serving": "1x3 0x20"}, 60, 120),
    Scene("RollbookStoreIsDown", {'rollbook_store_up{i="a"}': "1x30", 'rollbook_store_up{i="b"}': "1x3 0x27"}, 60, 120),
    Scene("RollbookStoreIsReplaced", {"rollbook_store_replaced": "0x3 1x20"}, 45, 60),
    Scene("RollbookLostALog", {"rollbook_lost_tails_total": "0x3 1x20"}, 45, 90),
    Scene("RollbookSweepsNoMore", {"rollbook_last_sweep_timestamp_seconds": "0+15x4 60x20"}, 90, 180),
    Scene("RollbookWorkerDies", {"rollbook_worker_deaths_total": "0+1x40"}, 15, 300),
    Scene("RollbookArchiveStandsStill", {"rollbook_archiving": "0x80", "rollbook_archive_backlog": "0x80"}, 840, 930),
    Scene("RollbookArchiveIsLate", {"rollbook_archive_late_seconds": "0+15x100"}, 1_190, 1_260),
    Scene("RollbookStoreMemoryIsShort", {"rollbook_store_memory_ratio": "0.81x40"}, 270, 330),
    Scene("RollbookStoreMemoryIsShort", {"rollbook_store_memory_ratio": "0.79x40"}, 330, None),
    Scene("RollbookStoreMemoryIsFull", {"rollbook_store_memory_ratio": "0.9x3 0.96x20"}, 60, 105),
    Scene("RollbookStoreMemoryIsFull", {"rollbook_store_memory_ratio": "0.94x20"}, 240, None),
    Scene("RollbookDiskIsShort", {"rollbook_data_disk_ratio": "0.81x40"}, 270, 330),
    Scene("RollbookDiskIsFull", {"rollbook_data_disk_ratio": "0.9x3 0.96x20"}, 60, 105),
    Scene("RollbookDiskIsFull", {"rollbook_data_disk_ratio": "0.94x20"}, 240, None),
    Scene("RollbookStoreDiskIsSlow", proofs("slow"), 45, 150),
    Scene("RollbookStoreDiskIsSlow", proofs("fast"), 300, None),
    Scene("RollbookRefusesForWantOfPlace", {'rollbook_refusals_total{reason="too_many_seats"}': "0+30x60"}, 240, 540),
    Scene("RollbookRefusesForWantOfPlace", {'rollbook_refusals_total{reason="not_your_turn"}': "0+30x60"}, 540, None),
    Scene("RollbookRefusesForTheStore", {'rollbook_refusals_total{reason="store_unavailable"}': "0+3x60"}, 45, 150),
    Scene("RollbookRefusesForTheStore", {'rollbook_refusals_total{reason="name_refused"}': "0+3x60"}, 300, None),
    Scene(
        "RollbookAppendsAreSlow",
        {
            f'rollbook_append_seconds_bucket{{le="{le}"}}': f"0+{step}x80"
            for le, step in (("0.2", 0), ("0.5", 15), ("+Inf", 15))
        },
        540,
        700,
    ),
    Scene(
        "RollbookLoopIsLate",
        {
            f'rollbook_event_loop_lag_seconds_bucket{{le="{le}"}}': f"0+{step}x80"
            for le, step in (("0.2", 0), ("0.5", 15), ("+Inf", 15))
        },
        540,
        700,
    ),
    Scene("RollbookClocksDiffer", {"rollbook_clock_difference_seconds": "-6x60"}, 570, 630),
    Scene("RollbookFilesRunOut", {"process_open_fds": "850x40", "process_max_fds": "1000x40"}, 270, 330),
    # In simulated time it is 1970.
    Scene("RollbookCertificateExpires", {"rollbook_tls_not_after_seconds": f"{13 * 86_400}x60"}, 570, 660),
    Scene("RollbookCertificateExpires", {"rollbook_tls_not_after_seconds": f"{15 * 86_400}x60"}, 660, None),
]


def check(folder: Path, scenes: Sequence[Scene]) -> None:
    """Evaluate the alarms on these scenes."""
    tests = []
    for scene in scenes:
        asked = [{"eval_time": f"{scene.silent}s", "alertname": scene.alarm, "exp_alerts": []}]
        tests.append(
            {
                "interval": "15s",
                "name": scene.alarm,
                "input_series": [{"series": name, "values": values} for name, values in scene.series.items()],
                "alert_rule_test": asked,
            }
        )
        if scene.fires is not None:
            rule = RULES[scene.alarm]
            labels: dict[str, str] = dict(rule["labels"])
            summary = rule["annotations"]["summary"]
            if "$labels.reason" in summary:
                (series,) = scene.series
                labels["reason"] = series.partition('reason="')[2].partition('"')[0]
                summary = summary.replace("{{ $labels.reason }}", labels["reason"])
            if scene.alarm == "RollbookIsGone":
                labels["job"] = "rollbook"
            expected: Any = {"exp_labels": labels, "exp_annotations": {"summary": summary}}
            asked.append({"eval_time": f"{scene.fires}s", "alertname": scene.alarm, "exp_alerts": [expected]})
    file = folder / "scenes.yaml"
    file.write_text(
        yaml.safe_dump({"rule_files": [str(ALARMS)], "evaluation_interval": "15s", "tests": tests}), "utf-8"
    )
    done = subprocess.run([tool("promtool"), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_every_alarm_fires_after_its_time_and_is_silent_before(tmp_path: Path) -> None:
    """A scene for each alarm; those with a threshold also have one on the other side of it."""
    assert RULES.keys() == {scene.alarm for scene in SCENES if scene.fires is not None}
    for scene in SCENES:
        named = set(re.findall(r"\b(?:rollbook|process)_[a-z_]+\b|\bup\b", RULES[scene.alarm]["expr"]))
        assert {series.partition("{")[0] for series in scene.series} == named, scene.alarm
    check(tmp_path, SCENES)


def recorded(alarm: str, before: Numbers, after: Numbers, seconds: int) -> dict[str, str]:
    """What an alarm reads, as a service exported it: as it was for four samples, then as it came to be.

    Counters grow for a time of `seconds` as they grew between the two.
    """
    named = set(re.findall(r"\brollbook_[a-z_]+\b", RULES[alarm]["expr"]))
    series = {}
    for (name, labels), value in after.items():
        if name not in named:
            continue
        written = ",".join(f'{key}="{text}"' for key, text in labels)
        was = before.get((name, labels), 0.0)
        if name.endswith(("_total", "_bucket")):
            step = (value - was) / max(1, seconds) * 15
            values = f"{was}+{step}x80"
        else:
            values = f"{was}x3 {value}x80"
        series[f"{name}{{{written}}}"] = values
    assert series
    return series


@contextmanager
def measured(folder: Path, *flags: str, **environment: str) -> Iterator[tuple[Service, str]]:
    """A service with metrics, and their address."""
    metrics = f"127.0.0.1:{free_port()}"
    words = [*SERVE, "--data", str(folder / "data"), "--listen", ANY_PORT, "--metrics", metrics, *flags]
    with started(words, environment) as one:
        assert one.address
        yield one, metrics


def fires(folder: Path, alarm: str, before: Numbers, after: Numbers, seconds: int = 15) -> None:
    """Evaluate an alarm on what a service exported: silent at first, and firing in the end."""
    check(folder, [Scene(alarm, recorded(alarm, before, after, seconds), 15, 1_200)])


def test_a_store_that_fills_up_or_is_slow_raises_alarms(tmp_path: Path) -> None:
    """With a real store: its memory is used up to 97 %, then its writes wait, without being refused."""
    tool("promtool")
    with (
        running(find_server(), tmp_path / "valkey") as store,
        store.client() as client,
        measured(tmp_path, "--redis", store.url) as (one, metrics),
    ):
        until(lambda: 0 < number(read(scrape(metrics)), "rollbook_store_memory_ratio"), one)
        before = read(scrape(metrics))
        disk = number(before, "rollbook_data_disk_ratio")
        usage = shutil.disk_usage(tmp_path)
        assert abs(disk - usage.used / (usage.used + usage.free)) < 0.1
        client.config_set("maxmemory", int(client.info("memory")["used_memory"] / 0.97))
        until(lambda: 0.95 < number(read(scrape(metrics)), "rollbook_store_memory_ratio"), one)
        full = read(scrape(metrics))
        for alarm in ("RollbookStoreMemoryIsShort", "RollbookStoreMemoryIsFull"):
            fires(tmp_path, alarm, before, full)
        client.config_set("maxmemory", 0)
        before = read(scrape(metrics))
        name = "rollbook_store_proof_seconds_count"
        while number(read(scrape(metrics)), name) < number(before, name) + 5:
            # Each write waits for most of a pause, and no longer than the service waits for it.
            client.execute_command("CLIENT", "PAUSE", 2_000, "WRITE")
            time.sleep(2.1)
        fires(tmp_path, "RollbookStoreDiskIsSlow", before, read(scrape(metrics)))
        assert 1 == one.status()


def test_refusals_raise_alarms_by_their_reason(tmp_path: Path) -> None:
    """More tables than a subject may have open: a limit refuses, and the alarm names it."""
    tool("promtool")
    with measured(tmp_path, ROLLBOOK_LIMITS_OPEN_MATCHES_PER_SUBJECT="1") as (one, metrics), one.channel() as channel:
        token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20).token
        before = read(scrape(metrics))
        refusals = 0
        for attempt in range(40):
            request = match_pb2.OpenMatchRequest(
                request_id=f"attempt-{attempt:03}", seats=2, options=Options(cant_stop=CantStopOptions())
            )
            try:
                MatchServiceStub(channel).OpenMatch(
                    request, metadata=(("authorization", f"Bearer {token}"),), timeout=20
                )
            except grpc.RpcError:
                refusals += 1
        assert 39 == refusals
        after = read(scrape(metrics))
        alarm = "RollbookRefusesForWantOfPlace"
        series = recorded(alarm, before, after, 15)
        moved = {name: values for name, values in series.items() if "+0.0x" not in values}
        assert ['rollbook_refusals_total{reason="too_many_matches"}'] == list(moved)
        check(tmp_path, [Scene(alarm, moved, 15, 1_200)])


def test_a_certificate_near_its_end_and_a_late_archive_are_exported(tmp_path: Path) -> None:
    """The series of a service with five days left; nothing is late in the archive of a new service."""
    tool("promtool")
    made = certificate(tmp_path, "short", days=5)
    with measured(tmp_path, "--tls-cert", str(made.certificate), "--tls-key", str(made.key)) as (_, metrics):
        found = read(scrape(metrics))
        assert 0 == number(found, "rollbook_archive_late_seconds")
        left = number(found, "rollbook_tls_not_after_seconds") - time.time()
        check(
            tmp_path, [Scene("RollbookCertificateExpires", {"rollbook_tls_not_after_seconds": f"{left}x60"}, 15, 660)]
        )
