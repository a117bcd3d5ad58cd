"""Evaluation of a pipeline: scorer, matching, intervals, confusions, and the page."""
