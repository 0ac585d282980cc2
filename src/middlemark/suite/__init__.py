"""Read suite files and command-line options into checked suites, or report all their problems at once."""

from middlemark.suite.request import available, load
from middlemark.suite.sweep import Levels, Native, RawOptions, Suite, Sweep, raw_options

__all__ = ["Levels", "Native", "RawOptions", "Suite", "Sweep", "available", "load", "raw_options"]
