"""Text in a picture: found, read, and followed over frames."""
