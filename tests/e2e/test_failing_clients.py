"""A client library in Python raises an exception during a trial: the trial fails, and its error names the exception."""

import textwrap
from pathlib import Path

import pytest
from product import Bench

from middlemark.workers.find import executables

WORKER = executables().get("udp-python")
FAILING = '''
import threading

import adapter
from middlemark_kit.protocol import Transport


class Subscriber(adapter.Subscriber):
    """Raises for the fortieth message: on the role's thread, or on a thread of its own as a library's callback does."""

    heard = 0
    ended = False

    def take(self, visit):
        self.heard += 1
        if self.heard >= 40:
            raise LookupError("no such transform")
        super().take(visit)

    def listen(self, visit):
        self.thread = threading.Thread(target=self.callbacks, args=(visit,), name="the executor")
        self.thread.start()

    def callbacks(self, visit):
        while not self.ended:
            if self.wait(0.1):
                self.take(visit)

    def silence(self):
        self.ended = True
        self.thread.join()


class Failing(adapter.Udp):
    subscriber_type = Subscriber

    @staticmethod
    def description():
        about = adapter.Udp.description()
        about.name = about.title = "failing"
        about.is_raw_transport = False
        about.transports = (Transport(name="udp", carrier="udp", reliability=("best-effort",)),)
        return about

    def subscriber(self, topic, index):
        return Subscriber(self.settings, topic, index)


ADAPTER = Failing
'''


@pytest.mark.skipif(WORKER is None, reason="udp-python is built on request")
@pytest.mark.parametrize(
    ("receive", "words"),
    [("listen", "LookupError in the executor: no such transform"), ("block", "LookupError: no such transform")],
)
def test_a_trial_whose_python_client_raises_fails_with_the_exception(
    bench: Bench, tmp_path: Path, receive: str, words: str
) -> None:
    assert WORKER is not None
    (tmp_path / "failing.py").write_text(textwrap.dedent(FAILING))
    worker = tmp_path / "middlemark-worker-failing"
    begin = f"sys.path.insert(0, {str(tmp_path)!r})\nfrom failing import ADAPTER"
    worker.write_text(Path(WORKER).read_text().replace("from adapter import ADAPTER", begin))
    worker.chmod(0o755)
    short = ["--samples", "200", "--warmup", "1ms", "--trials", "1", "--no-baseline", "--priority", "other"]
    ended = bench.run(
        *("run", "--adapter", "failing", "--receive", receive, "--size", "64", *short, "--format", "json"),
        environment={"MIDDLEMARK_WORKERS": str(tmp_path)},
    )
    assert ended.code != 0
    [cell] = ended.document["cells"]
    assert cell["failed"]["code"] == "silent"
    assert f"; pong 0 printed: {words}" in cell["failed"]["text"]
    assert cell["failed_trials"] == 1
