"""Governance and permissions of DDS Security: the generated documents, and faults in a user's documents."""

import datetime
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from middlemark.model.protocol import Security
from middlemark.security import documents, layout, smime
from middlemark.security.authority import Authority, make_set
from middlemark.security.check import problems_of

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
YESTERDAY, TOMORROW = f"{NOW - DAY:%Y-%m-%d}", f"{NOW + DAY:%Y-%m-%d}"
SUBJECTS = ("O=Middlemark,CN=sender", "O=Middlemark,CN=receiver")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_set(str(tmp_path / "certs"))
    return tmp_path / "certs"


def found_problems(folder: Path, *levels: Security) -> list[str]:
    found = problems_of(folder, ("x509", "dds"), layout.ENDS, (), levels or documents.LEVELS)
    return [str(each).replace(f"{folder}/", "") for each in found]


def openssl(*argv: str | Path) -> bytes:
    return subprocess.run(["openssl", *map(str, argv)], capture_output=True, check=True).stdout


def new_authority(folder: Path, key: str, usage: str) -> tuple[Path, Path]:
    """Make an authority with OpenSSL, as a user does; return its certificate and its key."""
    own, certificate = folder / "own.key", folder / "own.pem"
    kind = ("rsa:2048",) if key == "rsa" else ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    openssl(
        *("req", "-x509", "-newkey", *kind, "-nodes", "-keyout", own, "-out", certificate, "-subj", "/CN=own"),
        *("-days", "9", "-addext", f"keyUsage=critical,{usage}"),
    )
    return certificate, own


def own_documents(folder: Path, key: str = "ec", usage: str = "digitalSignature,keyCertSign") -> None:
    """Sign the set's documents by a user's own authority, and add this authority to the set."""
    certificate, own = new_authority(folder, key, usage)
    plain = folder / "plain.xml"
    for name in (*map(layout.governance, documents.LEVELS), layout.PERMISSIONS):
        grants = documents.permissions(SUBJECTS, NOW - DAY, NOW + DAY)
        level = next((each for each in documents.LEVELS if layout.governance(each) == name), None)
        plain.write_text(documents.governance(level) if level else grants)
        openssl("smime", "-sign", "-text", "-in", plain, "-out", folder / name, "-signer", certificate, "-inkey", own)
    (folder / layout.AUTHORITY).write_bytes((folder / layout.AUTHORITY).read_bytes() + certificate.read_bytes())


def replace(folder: Path, name: str, document: str, authority: Authority | None = None) -> None:
    """Replace a document by one that ``authority`` signs. None: add a second authority to the set, which signs it."""
    own = authority or Authority("second")
    (folder / name).write_bytes(own.sign(document))
    if authority is None:
        (folder / layout.AUTHORITY).write_bytes((folder / layout.AUTHORITY).read_bytes() + own.certificate)


def test_openssl_verifies_each_document_with_its_own_authority_only(folder: Path) -> None:
    for each in folder.glob("*.p7s"):
        own, other = layout.AUTHORITY, layout.STRANGERS_AUTHORITY
        if each.name.startswith(layout.FORGED):
            own, other = other, own
        assert openssl("smime", "-verify", "-text", "-in", each, "-CAfile", folder / own).lstrip().startswith(b"<?xml")
        with pytest.raises(subprocess.CalledProcessError):
            openssl("smime", "-verify", "-text", "-in", each, "-CAfile", folder / other)
    assert len(list(folder.glob("*.p7s"))) == 8


def test_a_generated_set_is_valid_at_each_level_and_grants_nothing_to_an_intruder(folder: Path) -> None:
    assert found_problems(folder) == []
    authority = x509.load_pem_x509_certificates((folder / layout.AUTHORITY).read_bytes())
    for level in documents.LEVELS:
        content = smime.content_of((folder / layout.governance(level)).read_bytes(), authority)
        assert content.decode().replace("\r\n", "\n") == documents.governance(level)
    grants = smime.content_of((folder / layout.PERMISSIONS).read_bytes(), authority)
    assert b"CN=sender" in grants
    assert b"intruder" not in grants


def test_a_forger_has_the_authoritys_name_but_not_its_key(folder: Path) -> None:
    real, forger = (
        x509.load_pem_x509_certificate((folder / each).read_bytes())
        for each in (layout.AUTHORITY, layout.STRANGERS_AUTHORITY)
    )
    assert real.subject == forger.subject
    assert real.public_key() != forger.public_key()


@pytest.mark.parametrize("key", ["ec", "rsa"])
def test_documents_signed_by_openssl_are_accepted(folder: Path, key: str) -> None:
    own_documents(folder, key)
    assert found_problems(folder) == []


def test_line_ends_changed_by_mail_are_accepted(folder: Path) -> None:
    for each in folder.glob("*.p7s"):
        each.write_bytes(each.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert found_problems(folder) == []


def test_a_document_that_is_not_signed_is_refused(folder: Path) -> None:
    (folder / "governance-encrypted.p7s").write_text(documents.governance("encrypted"))
    (folder / layout.PERMISSIONS).write_text("")
    expected = "is not signed; sign it with openssl smime -sign -text"
    assert found_problems(folder) == [f"governance-encrypted.p7s: {expected}", f"permissions.p7s: {expected}"]


def test_a_document_of_another_authority_with_the_same_name_is_refused(folder: Path) -> None:
    for name in (layout.governance("signed"), layout.PERMISSIONS):
        (folder / name).write_bytes((folder / (layout.FORGED + name)).read_bytes())
    expected = "was changed after it was signed, or another authority signed it"
    assert found_problems(folder) == [f"governance-signed.p7s: {expected}", f"permissions.p7s: {expected}"]


@pytest.mark.parametrize(("old", "new"), [(b">ENCRYPT<", b">NONE<"), (b"signed message", b"signed message")])
def test_a_changed_document_is_refused(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "governance-encrypted.p7s"
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    changed = "governance-encrypted.p7s: was changed after it was signed, or another authority signed it"
    assert found_problems(folder) == ([changed] if old != new else [])


def test_a_truncated_document_is_refused(folder: Path) -> None:
    path = folder / "permissions.p7s"
    whole = path.read_bytes()
    for length in range(0, whole.rindex(b"\r\n\r\n--"), 97):  # cut off within the signature
        path.write_bytes(whole[:length])
        [problem] = found_problems(folder)
        assert problem.startswith("permissions.p7s: "), problem


def test_a_signer_that_middlewares_refuse_is_refused(folder: Path) -> None:
    own_documents(folder, usage="keyCertSign")
    expected = "the signing certificate's key usage lacks digitalSignature, so middlewares refuse it"
    assert [each.partition(": ")[2] for each in found_problems(folder)] == [expected] * 4


def test_only_documents_of_the_requested_levels_are_checked_if_the_middleware_reads_them(folder: Path) -> None:
    for level in ("authenticated", "signed"):
        (folder / f"governance-{level}.p7s").unlink()
    assert found_problems(folder, "encrypted") == []
    assert [each.partition(":")[0] for each in found_problems(folder)] == [
        "governance-authenticated.p7s",
        "governance-signed.p7s",
    ]
    assert problems_of(folder, ("x509", "curve"), layout.ENDS) == []


@pytest.mark.parametrize(
    ("level", "change", "expected"),
    [
        ("encrypted", (">ENCRYPT<", ">NONE<"), "its protection kinds give the level authenticated; "
         "set rtps_protection_kind or metadata_protection_kind or data_protection_kind to ENCRYPT"),
        ("encrypted", (">ENCRYPT<", ">SIGN_WITH_ORIGIN_AUTHENTICATION<"), "its protection kinds give the "
         "level signed; set rtps_protection_kind or metadata_protection_kind or data_protection_kind to ENCRYPT"),
        ("authenticated", ("data_protection_kind>NONE", "data_protection_kind>ENCRYPT"), "its protection "
         "kinds give the level encrypted; set all of rtps_protection_kind, "
         "metadata_protection_kind, data_protection_kind to NONE"),
        ("signed", ("_participants>false", "_participants>true"), "accepts participants without a certificate; set "
         "allow_unauthenticated_participants to false"),
        ("signed", ("domain_rule", "domain"), "has no <domain_rule>, so it applies to no domain"),
        ("signed", ("</dds>", ""), "is not XML (no element found: line 25, column 0)"),
    ],
)  # fmt: skip
def test_rules_of_another_level_are_refused(
    folder: Path, level: Security, change: tuple[str, str], expected: str
) -> None:
    replace(folder, layout.governance(level), documents.governance(level).replace(*change))
    assert found_problems(folder) == [f"governance-{level}.p7s: {expected}"]


def test_one_of_the_three_protection_kinds_is_enough_for_a_level(folder: Path) -> None:
    rules = documents.governance("signed").replace("data_protection_kind>NONE", "data_protection_kind>ENCRYPT")
    replace(folder, "governance-encrypted.p7s", rules)
    assert found_problems(folder) == []


@pytest.mark.parametrize(
    ("grants", "expected"),
    [
        (documents.permissions(SUBJECTS[:1], NOW - DAY, NOW + DAY),
         "has no grant for O=Middlemark,CN=receiver, so the other processes would refuse it"),
        (documents.permissions(["CN=sender, O=Middlemark", SUBJECTS[1]], NOW - DAY, NOW + DAY), None),
        (documents.permissions(SUBJECTS, NOW - DAY, NOW + DAY).replace(TOMORROW, YESTERDAY, 1),
         f"the grant for O=Middlemark,CN=sender expired on {YESTERDAY}; make a new one"),
        (documents.permissions(SUBJECTS, NOW - DAY, NOW + DAY).replace("<not_after>", "<not_after>soon ", 1),
         "the validity of the grant for O=Middlemark,CN=sender is not a time such as 2030-01-31T12:00:00Z"),
    ],
)  # fmt: skip
def test_a_missing_or_expired_grant_is_reported(folder: Path, grants: str, expected: str | None) -> None:
    replace(folder, layout.PERMISSIONS, grants)
    assert found_problems(folder) == ([] if expected is None else [f"permissions.p7s: {expected}"])


def test_a_grant_that_is_not_yet_valid_is_reported(folder: Path) -> None:
    replace(folder, layout.PERMISSIONS, documents.permissions(SUBJECTS, NOW + DAY, NOW + 2 * DAY))
    assert len(found_problems(folder)) == 2
    assert all("is not valid before " in each for each in found_problems(folder))


def test_a_signature_that_cannot_be_read_is_reported(folder: Path) -> None:
    path = folder / "governance-signed.p7s"
    head, encoded, rest = path.read_bytes().partition(b"\nMII")
    assert encoded
    path.write_bytes(head + b"\nAAA" + rest)
    [problem] = found_problems(folder, "signed")
    assert (
        problem == "governance-signed.p7s: its signature cannot be read; sign it again with openssl smime -sign -text"
    )


def test_a_document_cannot_be_verified_without_openssl(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    [problem] = [each for each in found_problems(folder, "signed") if each.startswith("governance")]
    assert problem == ("governance-signed.p7s: cannot be verified without the command openssl: apt install openssl")
