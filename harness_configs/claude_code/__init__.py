"""Claude Code: a project's `.mcp.json`, arms by `--tools`."""
