"""The stored runs, served to one's own browser: reads folders, writes nothing, listens on 127.0.0.1 only."""
