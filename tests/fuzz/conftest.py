"""Files to damage, made once for all examples."""

import sys

import pytest

# where memory is limited, and what hangs is stopped
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*"]


@pytest.fixture(scope="module")
def reader(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("damaged"))
