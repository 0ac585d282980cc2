"""Samples → quantiles, floors and warnings. Pure."""
