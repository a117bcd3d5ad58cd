"""Experiments: papers reproduced, and embedders compared over seeds."""
