"""Serve stored runs to the user's own browser: only reads folders, only listens on 127.0.0.1."""
