"""Suite files and the command line → checked suites, or every problem in all of them at once."""

from middlemark.suite.model import Levels, Native, RawOptions, Suite, Sweep
from middlemark.suite.request import available, load

__all__ = ["Levels", "Native", "RawOptions", "Suite", "Sweep", "available", "load"]
