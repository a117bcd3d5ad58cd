"""Options that change a config, as those of `spacy train` do."""

from collections.abc import Sequence
from typing import Any

from spacy.cli._util import NoSuchOption, parse_config_overrides

#: The context settings of a command that leaves the options it does not know to us.
TAKE_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}


def read_overrides(args: Sequence[str]) -> dict[str, Any]:
    """Read options such as `--training.dropout 0.2`, or end with an error."""
    from wasabi import msg

    try:
        return parse_config_overrides(list(args))
    except NoSuchOption as e:  # of click, which typer does not catch: it has its own
        msg.fail(e.message, "Settings look like --training.dropout 0.2", exits=1)
