"""Templates of what is shown in a browser."""

from jinja2 import BaseLoader, Environment, StrictUndefined


def make_environment(loader: BaseLoader | None = None) -> Environment:
    """Make an environment for templates of HTML.

    All text is escaped, and what a template names has to be there.

    loader (BaseLoader, optional): Where templates are found by their names.
    """
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
