"""Make the ordered, interleaved list of trials from suites and adapters."""

from middlemark.plan.estimate import estimate_seconds, estimate_trial
from middlemark.plan.make import make_plan

__all__ = ["estimate_seconds", "estimate_trial", "make_plan"]
