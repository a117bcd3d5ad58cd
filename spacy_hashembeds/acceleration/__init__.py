"""Faster pipelines: BLAS, conversion, checks, timing, and the doctor."""
