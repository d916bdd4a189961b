"""Colour repair: samples from the film, fits of a colour map, the choice among them, and the map as a table."""
