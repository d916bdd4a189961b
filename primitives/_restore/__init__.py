"""Repairs of the picture other than colour: lost sharpness, flicker, frozen and repeated frames."""
