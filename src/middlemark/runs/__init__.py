"""A run, from its first trial to its reading back: where launch, store and stats meet."""
