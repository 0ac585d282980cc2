"""A trial with security: its certificates exist only while it runs, and are not printed anywhere."""

import os
from pathlib import Path

import msgspec
import pytest
from launching import Launching

from middlemark.security.authority import make_set


@pytest.fixture
def launching(tmp_path: Path) -> Launching:
    return Launching(tmp_path)


def test_each_end_finds_its_own_key_which_is_removed_with_the_trial(launching: Launching) -> None:
    outcome = launching.trial(security="encrypted")
    assert outcome.failed is None
    assert outcome.protected_by is not None
    sender, receiver = outcome.protected_by.split("; ")
    folder = Path(sender).parent
    assert [sender, receiver] == [f"{folder}/sender.key 600", f"{folder}/receiver.key 600"]
    assert folder.name == "certs"
    assert not folder.parent.exists()


def test_two_trials_have_no_key_in_common(launching: Launching) -> None:
    first, second = (launching.trial(security="signed").protected_by for _ in range(2))
    assert first != second


def test_a_users_set_is_used_in_place_and_kept(launching: Launching, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    before = {each.name: each.read_bytes() for each in (tmp_path / "mine").iterdir()}
    launching.shared.here.certs = str(tmp_path / "mine")  # type: ignore[attr-defined]
    outcome = launching.trial(security="encrypted")
    assert outcome.protected_by == f"{tmp_path}/mine/sender.key 600; {tmp_path}/mine/receiver.key 600"
    assert {each.name: each.read_bytes() for each in (tmp_path / "mine").iterdir()} == before


def test_a_trial_without_security_has_no_certificates(launching: Launching) -> None:
    outcome = launching.trial()
    assert outcome.failed is None
    assert (outcome.protected_by, outcome.proof) == (None, None)


def test_no_file_of_a_trial_contains_a_key(launching: Launching, tmp_path: Path) -> None:
    make_set(str(tmp_path / "mine"))
    secrets = [each.read_bytes().strip().split(b"\n")[1] for each in (tmp_path / "mine").glob("*.key")]
    secrets += [each.read_bytes().strip() for each in (tmp_path / "mine").glob("*.curve")]
    launching.shared.here.certs = str(tmp_path / "mine")  # type: ignore[attr-defined]
    outcome = launching.trial({"record": str(tmp_path / "record")}, security="encrypted")
    kept = [msgspec.json.encode(outcome)]
    for folder, _, names in os.walk(tmp_path):
        kept += [Path(folder, name).read_bytes() for name in names if Path(folder) != tmp_path / "mine"]
    assert len(secrets) == 10
    assert any(b"protected_by" in each for each in kept)
    assert not [secret for secret in secrets for each in kept if secret in each]
