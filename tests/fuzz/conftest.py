"""Collect these tests only on Linux, where memory can be limited."""

import sys

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*"]
