"""`python -m avb_mcp`: the same as the avb-mcp command."""

from avb_mcp.cli import main

if __name__ == "__main__":
    main()
