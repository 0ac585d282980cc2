"""A stored run in the formats that other tools read, one file of this folder each."""
