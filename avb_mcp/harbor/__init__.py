"""Harbor: a suite as its tasks, its jobs as our records, and an environment for it without containers."""
