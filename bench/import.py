"""Cost of importing a long ddsperf log: make a log of 1 GB, import it, print time and peak memory.

Usage: python bench/import.py [MEGABYTES]
"""

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMITS = "limits: 60 s and 500 MB for 1,000 MB"


def write_log(path: Path, megabytes: int) -> int:
    """Write the lines that ddsperf prints for each second of a ping, and return the number of seconds."""
    draw = random.Random(1)
    # Repeats ten thousand different seconds: generating more would take longer than reading them.
    seconds = []
    for _ in range(10_000):
        p50 = draw.uniform(8, 12)
        figures = f"mean {p50 * 1.2:.3f}us min {p50 * 0.8:.3f}us 50% {p50:.3f}us 90% {p50 * 1.3:.3f}us"
        tail = f"99% {p50 * 2:.3f}us max {p50 * 300:.3f}us cnt {draw.randint(15_000, 40_000)}"
        seconds.append(
            (f"  vm:20703 size 1024 {figures} {tail}\n", "  rss:7.6MB vcsw:19442 ivcsw:18193 recvUC:11%+26%\n")
        )
    number = size = 0
    with path.open("w") as log:
        while size < megabytes * 1_000_000:
            ping, cost = seconds[number % len(seconds)]
            number += 1
            size += log.write(f"[20704] {number}.000{ping}[20704] {number}.000{cost}")
    return number


def main() -> None:
    """Make the log, import it in a new process, and print that process's time and memory."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory(prefix="middlemark-import-") as name:
        log = Path(name) / "ddsperf.log"
        seconds = write_log(log, megabytes)
        begin = time.perf_counter()
        argv = [sys.executable, "-m", "middlemark", "import", "--out", name, "--format", "json", str(log)]
        subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
        took = time.perf_counter() - begin
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        what = f"{log.stat().st_size / 1e6:,.0f} MB of ddsperf, {seconds:,} seconds of it"
        cost = f"{took:.1f} s ({processor:.1f} s of processor time), at most {peak:,.0f} MiB resident"
        print(f"import of {what}: {cost} ({LIMITS})")


if __name__ == "__main__":
    main()
