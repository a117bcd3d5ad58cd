"""`python -m lab ablation`."""

from pathlib import Path

from spacy.cli._util import Arg, Opt

from spacy_hashembeds.cli._app import failing
from spacy_hashembeds.cli._output import JSON, QUIET, is_quiet, json_output

from ._app import MODEL, give, lab_cli


@lab_cli.command("ablation")
def ablation_cli(
    model: str = MODEL,
    corpus: Path = Arg(..., help="The gold corpus, such as dev.spacy."),
    against: str | None = Opt(
        None, "--against", "-a", help="A second pipeline, to compare with."
    ),
    output: Path | None = json_output("the comparison"),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Tag chunks of entities with each part of a pipeline's BiLSTM encoder alone."""
    from wasabi import msg

    from spacy_hashembeds.files import check_targets
    from spacy_hashembeds.loading import load_trained

    from ..attention.ablation import ablate, summarize

    with failing("Can't compare the parts"):
        check_targets([output], [model, corpus, against])
        other = None if against is None else load_trained(against)
        data = ablate(load_trained(model), corpus, other, show_progress=not is_quiet())
        for warning in data["warnings"]:
            msg.warn(warning)
        give(data, summarize, as_json=as_json, output=output)
