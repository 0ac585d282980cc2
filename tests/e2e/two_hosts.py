"""Two hosts for tests: network namespaces with a link between them, each with an SSH server and its own /tmp."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from product import MARK, PATIENCE_S, ROOT, Bench, Run

from middlemark import interrupts
from middlemark.sites.link import join

PORT = 2222
SSHD = "/usr/sbin/sshd"
AHEAD_S = {"base": 0, "robot": 5}
"""Seconds by which each host's CLOCK_MONOTONIC is ahead of this machine's. A time namespace adds them."""
NAMES = {"base": "10.213.0.1", "robot": "10.213.0.2"}


class TwoHosts:
    """The two hosts, and methods to run Middlemark between them."""

    def __init__(self, bench: Bench, folder: Path, prefixes: Mapping[str, tuple[str, ...]], mark: str) -> None:
        self.bench = bench
        self.folder = folder
        self.mark = mark
        """A variable in the environment of all processes that SSH starts."""
        self._prefixes = prefixes

    @property
    def hosts(self) -> str:
        return ",".join(f"{name}=root@{address}:{PORT}" for name, address in NAMES.items())

    def temporary(self, name: str) -> Path:
        return self.folder / name / "tmp"

    def start(self, *arguments: str) -> Run:
        """Start `middlemark ARGUMENTS --hosts …` on the first host."""
        command = (*self._prefixes["base"], sys.executable, "-m", "middlemark")
        environment = {
            "HOME": str(self.folder / "home"),
            "MIDDLEMARK_WORKERS": os.environ.get("MIDDLEMARK_WORKERS", ""),
        }
        return self.bench.start(*arguments, "--hosts", self.hosts, command=command, environment=environment)

    def network(self, name: str) -> str:
        """The path of the host's network namespace, /proc/PID/ns/net."""
        return subprocess.run(
            [*self._prefixes[name], "readlink", "/proc/self/ns/net"], capture_output=True, text=True, check=True
        ).stdout.strip()

    def line(self, state: str) -> None:
        """Set the link between the hosts to ``state``: down or up."""
        asked = f"from pyroute2 import IPRoute; IPRoute().link('set', ifname='mm0', state={state!r})"
        subprocess.run([*self._prefixes["robot"], sys.executable, "-c", asked], check=True)


@contextlib.contextmanager
def two_hosts(bench: Bench, mark: str) -> Iterator[TwoHosts]:
    """Yield two running hosts."""
    folder = bench.folder / "hosts"
    home = folder / "home/.ssh"
    home.mkdir(parents=True, mode=0o700)
    for key in (home / "id_ed25519", folder / "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    shutil.copy(home / "id_ed25519.pub", folder / "authorized")
    public = (folder / "host_key.pub").read_text()
    (home / "known_hosts").write_text("".join(f"[{each}]:{PORT} {public}" for each in NAMES.values()))
    os.makedirs("/run/sshd", exist_ok=True)
    link = interrupts.run(join("1gbit"))
    servers: list[subprocess.Popen[bytes]] = []
    try:
        sides = {each.name: each.prefix for each in link.named(tuple(NAMES))}
        for name, prefix in sides.items():
            (folder / name / "tmp").mkdir(parents=True)
            environment = {
                "PYTHONPATH": str(ROOT / "src"),
                "MIDDLEMARK_WORKERS": os.environ.get("MIDDLEMARK_WORKERS", ""),
                "TMPDIR": str(folder / name / "tmp"),
                MARK: mark,
            }
            configuration = folder / name / "sshd_config"
            configuration.write_text(
                f"Port {PORT}\nListenAddress {NAMES[name]}\nHostKey {folder / 'host_key'}\nPidFile none\n"
                f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n"
                f"SetEnv {' '.join(f'{key}={value}' for key, value in environment.items())}\n"
            )
            ahead = ["unshare", "--time", "--monotonic", str(AHEAD_S[name])] if AHEAD_S[name] else []
            command = [*prefix, *ahead, SSHD, "-D", "-e", "-f", str(configuration)]
            servers.append(subprocess.Popen(command, stderr=subprocess.PIPE))
        _until_listening(servers, sides)
        yield TwoHosts(bench, folder, sides, mark)
    finally:
        for server in servers:
            server.terminate()
            server.communicate()
        link.end()


def _until_listening(servers: list[subprocess.Popen[bytes]], sides: Mapping[str, tuple[str, ...]]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    for server, (name, prefix) in zip(servers, sides.items(), strict=True):
        asked = f"import socket; socket.create_connection(('{NAMES[name]}', {PORT}), 1)"
        while subprocess.run([*prefix, "python3", "-IS", "-c", asked], capture_output=True, check=False).returncode:
            assert server.poll() is None, (server.stderr.read() if server.stderr else b"").decode()
            assert time.monotonic() < deadline, f"sshd of {name} does not answer"
            time.sleep(0.05)
