// Nothing: the target's precompiled header is what the workers are compiled with.
