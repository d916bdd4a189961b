"""Speech: where it is (`vad`), how a film is cut for reading (`plan`), what is said (`models`, `reader`, `store`), and
what can be done with the words (`words`, `find`, `fillers`). Heavy packages are imported inside functions only.
"""
