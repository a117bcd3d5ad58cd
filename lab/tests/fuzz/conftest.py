from tests.fuzz.conftest import collect_ignore_glob, reader  # noqa: F401 pytest finds them here
