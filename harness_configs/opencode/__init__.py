"""OpenCode: a project's `opencode.json`, arms by an agent's permissions."""
