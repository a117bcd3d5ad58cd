"""Pipelines made faster, and checked: BLAS, conversion, parity, and the doctor."""
