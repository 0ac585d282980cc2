"""The certificates and keys of a trial: the files of a set, how to make one, and how to check a user's own set."""
