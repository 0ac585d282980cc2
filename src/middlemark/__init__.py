"""Middlemark: a neutral benchmark for publish/subscribe and request/reply middleware."""

__all__ = ["__version__"]
__version__ = "0.1.0"
