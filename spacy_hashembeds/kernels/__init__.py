"""Kernels of the layers: functions of arrays."""
