"""The figures of one trial of a crowd."""

import math

from middlemark.model.crowd import Crowd


def complete_p50_ns(crowd: Crowd) -> float | None:
    """Return the time until half of the participants were complete; None: fewer were, or there is nobody to hear."""
    if not crowd.publishers_due:
        return None
    times = sorted(math.inf if each is None else float(each) for each in crowd.complete_ns)
    middle = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2
    return middle if math.isfinite(middle) else None


def complete_max_ns(crowd: Crowd) -> float | None:
    """Return the time until all participants were complete; None: some never were, or there is no publisher to hear."""
    times = [each for each in crowd.complete_ns if each is not None]
    return float(max(times)) if times and len(times) == len(crowd.complete_ns) else None


def never_matched(crowd: Crowd) -> float | None:
    """Return the share of the publishers that their subscribers never heard; None: there is no publisher to hear."""
    return 1 - crowd.publishers_heard / crowd.publishers_due if crowd.publishers_due else None
