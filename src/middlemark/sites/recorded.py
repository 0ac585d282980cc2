"""Write the sizes and send times of a workload's topics to the files from which workers read them."""

import zlib
from pathlib import Path

import numpy as np

from middlemark.model.cell import SMALLEST_MESSAGE
from middlemark.model.levels import Wrong
from middlemark.model.workload import FromFile, Topic, Workload, instants_path, sizes_path
from middlemark.sites.channel import WorkerFailedError
from middlemark.suite.sequence import Sizes, instants_of, sizes_of

DRAWN = 1 << 16
"""The number of random sizes of a topic. A trial with more messages repeats the sizes."""


def hand_over(graph: Workload, scratch: str, round_: int) -> None:
    """Write the files of the workload ``graph`` to ``scratch``.

    ``round_``: the seed of the sizes, so that all cells of a round have the same sizes.

    Raises OSError. Raises WorkerFailedError if a user's file has changed.
    """
    for number, topic in enumerate(graph.topics):
        try:
            if topic.sizes is not None:
                sizes(topic, round_).tofile(sizes_path(scratch, number))
            if topic.instants is not None:
                instants_of(topic.instants, topic.lap_s).tofile(instants_path(scratch, number))
        except Wrong as error:
            advice = f"restore {Path(topic.instants.path).name if topic.instants else 'the file'}, or begin a new run"
            raise WorkerFailedError("configure", f"topic {topic.name}: {error}", advice) from None


def sizes(topic: Topic, round_: int) -> Sizes:
    """Return the sizes of a topic: from the topic's file, or random for this round. Raises Wrong."""
    assert topic.sizes is not None
    if isinstance(topic.sizes, FromFile):
        return sizes_of(topic.sizes)
    random = np.random.default_rng((round_, zlib.crc32(topic.name.encode())))
    drawn = random.lognormal(np.log(topic.sizes.median), topic.sizes.sigma, DRAWN)
    return np.clip(np.rint(drawn), SMALLEST_MESSAGE, topic.size).astype(np.uint32)
