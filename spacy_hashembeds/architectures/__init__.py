"""Architectures that a config names: functions that compose layers over Docs."""
