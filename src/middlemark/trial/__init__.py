"""Start the workers of a trial, connect them, enforce deadlines, stop them and clean up after them."""
