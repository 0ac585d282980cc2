"""``python -m middlemark``."""

import sys

if __name__ == "__main__":
    try:
        from middlemark.cli import main

        main()
    except KeyboardInterrupt:  # before main() handles Ctrl-C
        from middlemark.exits import INTERRUPTED

        sys.exit(INTERRUPTED)
