"""How the bars of each embedder look."""

#: One colour for one embedder: its bars are told apart by lightness. Hash embedding is
#: blue and plain, lookup embedding is orange and hatched. The defaults come first.
HASH_BARS: tuple[dict[str, str], ...] = tuple(
    {"color": color} for color in ("#1b3a57", "#5b8db8", "#a3c4de", "#e3eef7")
)
LOOKUP_BARS: tuple[dict[str, str], ...] = tuple(
    {"color": color, "hatch": "//"} for color in ("#c8701a", "#f2b872", "#fbe6cc")
)
