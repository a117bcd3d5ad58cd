from spacy_hashembeds.layers.plan import Plan


def get_kept(plan: Plan):
    """What was computed, if nobody got at the parameters since."""
    kept = plan._kept
    return kept.value if kept is not None and kept.is_sealed() else None
