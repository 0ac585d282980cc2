"""Certificates and keys of a trial: what a set of them is, how one is made, and what is wrong with a user's own."""
