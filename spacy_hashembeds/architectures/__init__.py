"""What a config names: functions that read Docs and compose layers."""
