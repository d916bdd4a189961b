"""One folder per agent harness: how to start our server from it, in each arm.

An adapter turns (server command, arm) into config files and a headless command line. It is pure: it
never starts a process and never touches the disk. Merging into a user's files is `_merge.py`'s job.
"""
