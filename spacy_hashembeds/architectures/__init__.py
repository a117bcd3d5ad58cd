"""Registered architectures: functions that compose layers over Docs."""
