"""Default models of the components."""

#: As large as spaCy's default for `ner`, in our layers.
DEFAULT_TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        "width": 96,
        "num_hashes": 4,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [2000, 1000, 1000, 1000],
        "include_static_vectors": False,
        "seed": 9,
    },
    "encode": {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        "width": 96,
        "depth": 4,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}
