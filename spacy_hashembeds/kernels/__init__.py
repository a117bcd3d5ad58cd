"""The fast paths behind the layers: plain functions over numpy arrays."""
