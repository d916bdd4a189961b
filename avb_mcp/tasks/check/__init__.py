"""`avb-mcp check suite/`: the benchmark's four gates, one file each, and why a task does not pass one."""
