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


def told(folder: Path, *levels: Security) -> list[str]:
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
    """Sign the set's documents by the user's own authority, which the set contains in addition to its own."""
    certificate, own = new_authority(folder, key, usage)
    plain = folder / "plain.xml"
    for name in (*map(layout.governance, documents.LEVELS), layout.PERMISSIONS):
        grants = documents.permissions(SUBJECTS, NOW - DAY, NOW + DAY)
        level = next((each for each in documents.LEVELS if layout.governance(each) == name), None)
        plain.write_text(documents.governance(level) if level else grants)
        openssl("smime", "-sign", "-text", "-in", plain, "-out", folder / name, "-signer", certificate, "-inkey", own)
    (folder / layout.AUTHORITY).write_bytes((folder / layout.AUTHORITY).read_bytes() + certificate.read_bytes())


def replace(folder: Path, name: str, document: str, authority: Authority | None = None) -> None:
    """Have an authority sign the document. None: a second authority, which becomes the set's own."""
    own = authority or Authority("second")
    (folder / name).write_bytes(own.sign(document))
    if authority is None:
        (folder / layout.AUTHORITY).write_bytes((folder / layout.AUTHORITY).read_bytes() + own.certificate)


def test_openssl_finds_each_document_signed_by_its_authority_and_by_no_other(folder: Path) -> None:
    for each in folder.glob("*.p7s"):
        own, other = layout.AUTHORITY, layout.STRANGERS_AUTHORITY
        if each.name.startswith(layout.FORGED):
            own, other = other, own
        assert openssl("smime", "-verify", "-text", "-in", each, "-CAfile", folder / own).lstrip().startswith(b"<?xml")
        with pytest.raises(subprocess.CalledProcessError):
            openssl("smime", "-verify", "-text", "-in", each, "-CAfile", folder / other)
    assert len(list(folder.glob("*.p7s"))) == 8


def test_a_set_that_is_made_is_good_at_each_level_and_grants_nothing_to_an_intruder(folder: Path) -> None:
    assert told(folder) == []
    authority = x509.load_pem_x509_certificates((folder / layout.AUTHORITY).read_bytes())
    for level in documents.LEVELS:
        content = smime.content_of((folder / layout.governance(level)).read_bytes(), authority)
        assert content.decode().replace("\r\n", "\n") == documents.governance(level)
    grants = smime.content_of((folder / layout.PERMISSIONS).read_bytes(), authority)
    assert b"CN=sender" in grants
    assert b"intruder" not in grants


def test_a_forger_has_the_authoritys_name_and_not_its_key(folder: Path) -> None:
    real, forger = (
        x509.load_pem_x509_certificate((folder / each).read_bytes())
        for each in (layout.AUTHORITY, layout.STRANGERS_AUTHORITY)
    )
    assert real.subject == forger.subject
    assert real.public_key() != forger.public_key()


@pytest.mark.parametrize("key", ["ec", "rsa"])
def test_documents_that_openssl_has_signed_are_taken(folder: Path, key: str) -> None:
    own_documents(folder, key)
    assert told(folder) == []


def test_line_ends_that_mail_has_changed_are_no_change(folder: Path) -> None:
    for each in folder.glob("*.p7s"):
        each.write_bytes(each.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert told(folder) == []


def test_a_document_that_is_not_signed_is_refused(folder: Path) -> None:
    (folder / "governance-encrypted.p7s").write_text(documents.governance("encrypted"))
    (folder / layout.PERMISSIONS).write_text("")
    said = "is not signed; sign it with openssl smime -sign -text"
    assert told(folder) == [f"governance-encrypted.p7s: {said}", f"permissions.p7s: {said}"]


def test_a_document_of_another_authority_is_refused_even_of_the_same_name(folder: Path) -> None:
    for name in (layout.governance("signed"), layout.PERMISSIONS):
        (folder / name).write_bytes((folder / (layout.FORGED + name)).read_bytes())
    said = "was changed after it was signed, or another authority signed it"
    assert told(folder) == [f"governance-signed.p7s: {said}", f"permissions.p7s: {said}"]


@pytest.mark.parametrize(("old", "new"), [(b">ENCRYPT<", b">NONE<"), (b"signed message", b"signed message")])
def test_a_document_that_was_changed_is_refused(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "governance-encrypted.p7s"
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    changed = "governance-encrypted.p7s: was changed after it was signed, or another authority signed it"
    assert told(folder) == ([changed] if old != new else [])


def test_a_document_whose_end_is_missing_is_refused(folder: Path) -> None:
    path = folder / "permissions.p7s"
    whole = path.read_bytes()
    for length in range(0, whole.rindex(b"\r\n\r\n--"), 97):  # cuts the signature, not the line after it
        path.write_bytes(whole[:length])
        [problem] = told(folder)
        assert problem.startswith("permissions.p7s: "), problem


def test_a_signer_whom_middlewares_would_not_take_is_refused(folder: Path) -> None:
    own_documents(folder, usage="keyCertSign")
    said = "the signing certificate's key usage lacks digitalSignature, so middlewares refuse it"
    assert [each.partition(": ")[2] for each in told(folder)] == [said] * 4


def test_documents_are_looked_at_only_where_a_middleware_reads_them_and_of_the_levels_asked_for(folder: Path) -> None:
    for level in ("authenticated", "signed"):
        (folder / f"governance-{level}.p7s").unlink()
    assert told(folder, "encrypted") == []
    assert [each.partition(":")[0] for each in told(folder)] == [
        "governance-authenticated.p7s",
        "governance-signed.p7s",
    ]
    assert problems_of(folder, ("x509", "curve"), layout.ENDS) == []


@pytest.mark.parametrize(
    ("level", "change", "said"),
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
def test_rules_that_are_not_those_of_their_level_are_refused(
    folder: Path, level: Security, change: tuple[str, str], said: str
) -> None:
    replace(folder, layout.governance(level), documents.governance(level).replace(*change))
    assert told(folder) == [f"governance-{level}.p7s: {said}"]


def test_a_level_may_be_had_by_any_of_the_three_kinds(folder: Path) -> None:
    rules = documents.governance("signed").replace("data_protection_kind>NONE", "data_protection_kind>ENCRYPT")
    replace(folder, "governance-encrypted.p7s", rules)
    assert told(folder) == []


@pytest.mark.parametrize(
    ("grants", "said"),
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
def test_a_grant_that_is_missing_or_out_of_its_time_is_told(folder: Path, grants: str, said: str | None) -> None:
    replace(folder, layout.PERMISSIONS, grants)
    assert told(folder) == ([] if said is None else [f"permissions.p7s: {said}"])


def test_a_grant_that_has_not_begun_is_told(folder: Path) -> None:
    replace(folder, layout.PERMISSIONS, documents.permissions(SUBJECTS, NOW + DAY, NOW + 2 * DAY))
    assert len(told(folder)) == 2
    assert all("is not valid before " in each for each in told(folder))


def test_a_signature_that_cannot_be_read_is_reported(folder: Path) -> None:
    path = folder / "governance-signed.p7s"
    head, encoded, rest = path.read_bytes().partition(b"\nMII")
    assert encoded
    path.write_bytes(head + b"\nAAA" + rest)
    [problem] = told(folder, "signed")
    assert (
        problem == "governance-signed.p7s: its signature cannot be read; sign it again with openssl smime -sign -text"
    )


def test_a_document_cannot_be_verified_without_openssl(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    [problem] = [each for each in told(folder, "signed") if each.startswith("governance")]
    assert problem == ("governance-signed.p7s: cannot be verified without the command openssl: apt install openssl")
