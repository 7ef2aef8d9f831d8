"""Which tests run on PostgreSQL as well. The run on SQLite has passed them already: on PostgreSQL run those that need
it, and those whose statements could have another result there. Each page and each call is asked for on both
(``test_access``, ``test_hostile``), and each act of an app runs on both in the app's own tests."""

import pytest

SQLITE_ALONE = (
    # Pages and calls over functions of other apps.
    "tests/console/",
    "tests/crowd/test_frame_access.py",
    # What workers are shown. What they send, and which HITs they get, is in the tests of their work.
    "tests/annotation/judging/",
    "tests/annotation/task_types/",
    # Programs that act as people do.
    "tests/demo/",
    "tests/simulation/",
    # Figures, networks, lists and files, of a few rows that a factory makes.
    "tests/annotation/work/test_forecasts.py",
    "tests/core/test_doctor.py",
    "tests/corpus/test_endless_files.py",
    "tests/crowd/channels/prolific/test_shapes.py",
    "tests/crowd/test_differences.py",
    "tests/crowd/test_endings.py",
    "tests/crowd/test_halts.py",
    "tests/dataset/exports/",
    "tests/dataset/outside_judgments/test_answer_table.py",
    "tests/dataset/test_turns.py",
    "tests/evaluation/",
    "tests/hits/rounds/test_beyond_rows_round.py",
    "tests/hits/task_types/",
    "tests/hits/test_controls.py",
    "tests/hits/test_judge_designs.py",
    "tests/mitl/",
    "tests/project/test_readme.py",
    "tests/project/test_slow_clients.py",
    "tests/project/test_wrong_commands.py",
)
# What reads or writes as nothing else does, below the places above.
BOTH = (
    "tests/annotation/judging/test_judging_pages.py",
    "tests/annotation/task_types/test_caption_work.py",
    "tests/console/api/test_access_tokens.py",
    "tests/console/api/test_idempotency.py",
    "tests/console/api/test_keysets.py",
    "tests/console/pairs/test_pair_filters.py",
    "tests/console/pairs/test_pair_table.py",
    "tests/console/rounds/test_rounds.py",
    "tests/console/test_access.py",
    "tests/console/test_hostile.py",
    "tests/console/test_renaming.py",
    "tests/console/test_undoing.py",
    "tests/console/webhooks/",
    "tests/dataset/exports/test_exports.py",
    "tests/evaluation/asking/test_likely_matches.py",
    "tests/evaluation/auditing/test_round_estimates.py",
    "tests/evaluation/scores/test_runs.py",
    "tests/evaluation/test_analyse_agreement.py",
    "tests/evaluation/test_analyse_workers.py",
    "tests/evaluation/test_version_commands.py",
    "tests/hits/task_types/test_checkbox.py",
    "tests/mitl/search/test_by_parts.py",
    "tests/mitl/search/test_cascades.py",
    "tests/mitl/search/test_retrieval.py",
    "tests/mitl/search/test_store.py",
    "tests/mitl/test_pooling.py",
    "tests/mitl/test_purses.py",
    "tests/mitl/test_registration.py",
    "tests/simulation/test_simulated_rounds.py",
)


def runs_on_postgresql(item: pytest.Item) -> bool:
    """Whether the test needs PostgreSQL or Redis, or touches a database in a way that may differ there."""
    if item.get_closest_marker("service"):
        return True
    if item.nodeid.startswith(SQLITE_ALONE) and not item.nodeid.startswith(BOTH):
        return False
    return bool(item.get_closest_marker("django_db")) or not {"db", "transactional_db"}.isdisjoint(item.fixturenames)
