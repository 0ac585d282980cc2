"""The worker executables: find them and read their descriptions."""
