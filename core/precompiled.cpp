// Intentionally empty: the target exists for its precompiled header, with which the workers are compiled.
