"""What joins clips: their ends, how ends go on in starts, and the order that follows."""
