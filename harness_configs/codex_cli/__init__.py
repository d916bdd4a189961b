"""Codex CLI: a project's `.codex/config.toml`, arms by feature switches and a model catalogue."""
