"""What can be wrong with a rubric before any film is scored, one file per kind of fault."""
