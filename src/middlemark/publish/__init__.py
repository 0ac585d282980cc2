"""Public results: a stored run as a small file without samples, its checks, and a static site of such files."""
