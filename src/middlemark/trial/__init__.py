"""Start the workers of a trial, connect them, enforce deadlines, stop the workers and clean up."""
