"""The metric of a late archive: for how long a finished match should have been archived."""

from __future__ import annotations

from pathlib import Path

from tests.server.lobby.archives import Keeper, run


def test_a_match_that_cannot_be_archived_is_late_from_its_due_time_on(tmp_path: Path) -> None:
    """The time grows while the archive is away, and is 0 again when the match is archived."""

    async def scenario(keeper: Keeper) -> None:
        def late() -> float | None:
            return keeper.service.metrics.registry.get_sample_value("rollbook_archive_late_seconds")

        await keeper.archivist.look()
        assert 0 == late()
        await keeper.over()
        archive, away = tmp_path / "archive", tmp_path / "away"
        archive.rename(away)
        for seconds in (0, 100, 1_000):
            keeper.clock.ms += seconds * 1_000
            await keeper.archivist.look()
            assert (late() or 0) >= seconds
        away.rename(archive)
        for _ in range(100):
            # The store remembers for some seconds that a process lacked the archive.
            keeper.clock.ms += 1_000
            await keeper.archivist.look()
            if not late():
                break
        assert 0 == late()

    run(scenario, tmp_path)
