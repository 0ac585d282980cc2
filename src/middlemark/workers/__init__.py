"""The worker executables: where they are found and what they say of themselves."""
