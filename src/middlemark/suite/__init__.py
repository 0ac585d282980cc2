"""Suite files and the command line → checked suites, or every problem in all of them at once."""

from middlemark.suite.request import available, load
from middlemark.suite.sweep import Levels, Native, RawOptions, Suite, Sweep, raw_options

__all__ = ["Levels", "Native", "RawOptions", "Suite", "Sweep", "available", "load", "raw_options"]
