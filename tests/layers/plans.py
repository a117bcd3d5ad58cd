from spacy_hashembeds.layers.plan import Plan


def get_cached(plan: Plan):
    """Return the cached value, or None if parameters were accessed since."""
    cached = plan._cached
    return cached.value if cached is not None and cached.is_sealed() else None
