"""The product around the primitives: MCP server, command line, tasks, experiments, report.

What belongs here knows about people, agents and folders. What knows only about media lives in
`primitives`; what judges lives in `verifiers`; what knows one harness lives in `harness_configs`.
"""

__version__ = "0.1.0"
