"""Gemini CLI: a project's `.gemini/settings.json`, arms by a policy file."""
