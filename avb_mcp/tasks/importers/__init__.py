"""Tasks from elsewhere become workspaces here: the public dataset's rows and the release's task folders."""
