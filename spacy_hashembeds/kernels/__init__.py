"""Kernels of the layers: plain functions of numpy arrays."""
