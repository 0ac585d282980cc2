"""What is doubtful about a row, as values: what was found, and what to do next. One file a subject. Pure."""
