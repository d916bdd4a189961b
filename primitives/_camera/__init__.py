"""How the camera moves, from points followed over frames."""
