"""The certificates and keys of a trial: the files of a set, how to make a set, and how to check a user's own set."""
