"""OpenClaw: the user's `openclaw.json` for everyday use, a config of our own for each arm."""
