"""Find the worker executables and read their descriptions."""
