"""The papers' tables and figures, filled from results."""
