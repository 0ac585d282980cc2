"""Serve stored runs to the user's own browser. Only reads folders, and listens only on 127.0.0.1."""
