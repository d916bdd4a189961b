"""Defects of a film: what they are called, how they are found in its tracks, how they are shown."""
