"""A set of certificates: the files of a generated set, and the faults that a user's own set may have."""

import datetime
import os
import stat
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from middlemark.commands import certs
from middlemark.model.description import Credential
from middlemark.problems import RequestError
from middlemark.security import curve, layout
from middlemark.security.authority import Authority, make_set
from middlemark.security.check import problems_of

ALL: tuple[Credential, ...] = get_args(Credential)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_set(str(tmp_path / "certs"), ["10.1.2.3"])
    return tmp_path / "certs"


def found_problems(folder: Path, *credentials: Credential, broker: bool = False) -> list[str]:
    needed = (*layout.ENDS, "broker") if broker else layout.ENDS
    found = problems_of(folder, credentials or ALL, needed, ["127.0.0.1"])
    return [str(each).replace(f"{folder}/", "") for each in found]


def replace(folder: Path, identity: str, certificate: bytes, key: bytes | None = None) -> None:
    (folder / f"{identity}.pem").write_bytes(certificate)
    if key is not None:
        (folder / f"{identity}.key").write_bytes(key)


def signed_by_nobody(
    *, common_name: str | None = "sender", begins_days: int = -1, ends_days: int = 1, hosts: tuple[str, ...] = ()
) -> tuple[bytes, bytes, bytes]:
    """Make an authority and a certificate, with an optional fault in either of them or in the certificate's key."""
    now = datetime.datetime.now(datetime.UTC)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "own")])
    named = x509.NameOID.ORGANIZATION_NAME if common_name is None else x509.NameOID.COMMON_NAME

    def given(subject: x509.Name, owner: ec.EllipticCurvePrivateKey, *, authority: bool) -> bytes:
        days = (-1, 1) if authority else (begins_days, ends_days)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(owner.public_key())
            .serial_number(7)
            .not_valid_before(now + datetime.timedelta(days=days[0]))
            .not_valid_after(now + datetime.timedelta(days=days[1]))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if hosts and not authority:
            made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in hosts]), False)
        return made.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    subject = x509.Name([x509.NameAttribute(named, common_name or "nobody")])
    return given(issuer, authority_key, authority=True), given(subject, key, authority=False), own


def test_a_generated_set_has_all_files_and_no_problems(folder: Path) -> None:
    wanted = {each.name for each in layout.files(ALL, layout.IDENTITIES)}
    assert {each.name for each in folder.iterdir()} == wanted
    assert found_problems(folder, broker=True) == []


def test_only_the_owner_may_read_the_set(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_openssl_verifies_all_certificates_but_the_strangers(folder: Path) -> None:
    def verified(identity: str, authority: str) -> bool:
        argv = [
            "openssl",
            "verify",
            "-x509_strict",
            "-CAfile",
            str(folder / authority),
            str(folder / f"{identity}.pem"),
        ]
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0

    good = {each for each in layout.IDENTITIES if verified(each, layout.AUTHORITY)}
    assert good == {"sender", "receiver", "broker", "intruder"}
    assert verified("stranger", layout.STRANGERS_AUTHORITY)


def test_a_certificate_names_its_owner_and_its_addresses(folder: Path) -> None:
    broker = x509.load_pem_x509_certificate((folder / "broker.pem").read_bytes())
    assert broker.subject.rfc4514_string() == "O=Middlemark,CN=broker"
    names = broker.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1", "10.1.2.3"]


def test_no_key_of_an_authority_is_kept(folder: Path) -> None:
    authority = x509.load_pem_x509_certificate((folder / layout.AUTHORITY).read_bytes()).public_key()
    keys = [serialization.load_pem_private_key(each.read_bytes(), None) for each in folder.glob("*.key")]
    assert len(keys) == 5
    assert all(each.public_key() != authority for each in keys)


def test_two_sets_have_no_file_in_common(folder: Path, tmp_path: Path) -> None:
    make_set(str(tmp_path / "other"))
    for each in folder.iterdir():
        assert each.read_bytes() != (tmp_path / "other" / each.name).read_bytes(), each.name


def test_z85_matches_its_specification() -> None:
    assert curve.z85(bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])) == "HelloWorld"
    assert curve.from_z85("HelloWorld") == bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])


def test_a_public_key_is_derived_from_the_secret_key() -> None:
    """The key pair in ZeroMQ's manual of zmq_curve."""
    assert curve.public_key_of("JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6") == "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"


def test_files_that_a_middleware_does_not_read_are_not_required(folder: Path) -> None:
    for each in folder.glob("*.pem"):
        each.unlink()
    assert found_problems(folder, "curve") == []


def test_a_users_set_needs_neither_intruder_nor_stranger_nor_broker(folder: Path) -> None:
    for each in ("intruder", "stranger", "broker"):  # the files of the stranger's authority begin with "stranger" too
        for file in folder.glob(f"{each}*"):
            file.unlink()
    assert found_problems(folder) == []
    assert found_problems(folder, "curve", broker=True) == [
        "broker.curve.pub: there is no such file; it is the public key of CURVE of a companion, such as a broker "
        "or a router. `middlemark certs FOLDER` makes a complete set to start from",
        "broker.curve: there is no such file; it is the secret key that belongs to broker.curve.pub. "
        "`middlemark certs FOLDER` makes a complete set to start from",
    ]


def test_all_problems_of_a_set_are_reported_at_once(folder: Path) -> None:
    (folder / "ca.pem").write_text("no certificate")
    (folder / "sender.key").chmod(0o644)
    (folder / "receiver.pem").unlink()
    (folder / "receiver.curve").write_text("secret")
    found = found_problems(folder)
    assert [each.partition(":")[0] for each in found] == ["ca.pem", "sender.key", "receiver.pem", "receiver.curve"]
    assert found[0] == "ca.pem: contains no certificate in PEM"
    assert found[1] == f"sender.key: other users may read it (mode 0644); chmod 600 {folder}/sender.key".replace(
        f"{folder}/", ""
    )
    assert found[3] == "receiver.curve: is not a CURVE key: 40 characters of Z85"


def test_a_missing_folder_is_reported_as_one_problem(tmp_path: Path) -> None:
    [problem] = problems_of(tmp_path / "none", ALL, layout.ENDS)
    assert str(problem).startswith(f"{tmp_path}/none: there is no such folder; `middlemark certs FOLDER`")


@pytest.mark.parametrize(
    ("fault", "problem_text"),
    [
        ({"begins_days": -9, "ends_days": -3}, "it expired on "),
        ({"begins_days": 3, "ends_days": 9}, "it is not valid before "),
        ({"common_name": None}, "its subject has no common name (CN), which permissions need"),
    ],
)
def test_an_expired_certificate_or_one_without_a_name_is_refused(
    folder: Path, fault: dict[str, int], problem_text: str
) -> None:
    authority, certificate, key = signed_by_nobody(**fault)  # type: ignore[arg-type]
    (folder / "ca.pem").write_bytes((folder / "ca.pem").read_bytes() + authority)
    replace(folder, "sender", certificate, key)
    [problem] = found_problems(folder, "x509")
    assert problem.startswith(f"sender.pem: {problem_text}")


def test_a_certificate_of_another_authority_is_refused(folder: Path) -> None:
    replace(folder, "sender", *Authority("another").identity("sender"))
    assert found_problems(folder) == ["sender.pem: ca.pem did not issue it, so the other processes would refuse it"]


def test_a_certificate_that_may_not_sign_others_is_refused_as_authority(folder: Path) -> None:
    (folder / "ca.pem").write_bytes((folder / "broker.pem").read_bytes())
    assert found_problems(folder, "x509")[0] == "ca.pem: is not the certificate of an authority (CA:TRUE is missing)"


def test_a_key_of_another_certificate_is_refused(folder: Path) -> None:
    (folder / "sender.key").write_bytes((folder / "receiver.key").read_bytes())
    (folder / "sender.curve").write_bytes((folder / "receiver.curve").read_bytes())
    assert found_problems(folder) == [
        "sender.key: it is not the key of sender.pem",
        "sender.curve: it does not belong to sender.curve.pub",
    ]


def test_a_key_with_a_password_is_refused(folder: Path) -> None:
    key = serialization.load_pem_private_key((folder / "sender.key").read_bytes(), None)
    locked = serialization.BestAvailableEncryption(b"word")
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
    (folder / "sender.key").write_bytes(pem)
    assert found_problems(folder) == [
        "sender.key: it has a password, which cannot be entered here; store it without a password"
    ]


def test_a_stranger_of_the_accepted_authority_is_refused_as_a_proof(folder: Path) -> None:
    replace(folder, "stranger", (folder / "sender.pem").read_bytes(), (folder / "sender.key").read_bytes())
    [problem] = found_problems(folder)
    assert problem.startswith("stranger.pem: ca.pem issued it, so nobody would refuse the stranger")


def test_a_brokers_certificate_must_name_the_brokers_address(folder: Path) -> None:
    authority, certificate, key = signed_by_nobody(hosts=("broker.example",))
    (folder / "ca.pem").write_bytes((folder / "ca.pem").read_bytes() + authority)
    replace(folder, "broker", certificate, key)
    assert found_problems(folder, "x509", broker=True) == [
        "broker.pem: it is valid for broker.example, but clients reach the broker at 127.0.0.1 and would refuse it"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_key_that_cannot_be_read_is_refused(folder: Path) -> None:
    (folder / "sender.key").chmod(0)
    [problem] = found_problems(folder)
    assert problem == "sender.key: cannot be read (Permission denied); let the user who measures read it"


def test_no_problem_reveals_a_key(folder: Path) -> None:
    secrets = [(folder / name).read_text().strip() for name in ("sender.curve", "receiver.curve")]
    for name in ("sender.curve", "receiver.curve"):
        (folder / name).write_text((folder / name).read_text().strip()[:-1] + "~\n")
    found = " ".join(found_problems(folder, "curve"))
    assert "sender.curve: is not a CURVE key" in found
    assert not any(secret[:-1] in found for secret in secrets)


def test_certs_makes_a_set_and_describes_each_file(tmp_path: Path) -> None:
    made = tmp_path / "mine"
    ran = CliRunner().invoke(certs.command, [str(made)], standalone_mode=False)
    assert ran.return_value == 0, ran.output
    lines = ran.output.splitlines()
    listed = {line.split()[0]: line for line in lines[1:-1] if not line.startswith("   ")}
    assert set(listed) == {each.name for each in made.iterdir()}
    assert listed["sender.key"].endswith("its private key (readable only by you)")
    assert lines[-1] == f"To measure with this set: middlemark run … --security encrypted --certs {made}"
    assert found_problems(made, broker=True) == []


def test_certs_does_not_touch_an_existing_folder(tmp_path: Path) -> None:
    ran = CliRunner().invoke(certs.command, [str(tmp_path)], standalone_mode=False)
    assert isinstance(ran.exception, RequestError)
    assert str(ran.exception) == f"{tmp_path}: exists already; name a folder that does not exist"
    assert list(tmp_path.iterdir()) == []
