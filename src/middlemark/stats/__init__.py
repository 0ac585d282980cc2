"""Samples → quantiles, raw transports and warnings. Pure."""
