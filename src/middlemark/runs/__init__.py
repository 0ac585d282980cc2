"""A run, from its first trial to its reading back: where trial, store and stats meet."""
