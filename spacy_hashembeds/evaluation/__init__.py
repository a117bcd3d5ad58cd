"""What a pipeline scores: scorer, matching, intervals, confusions, and the page."""
