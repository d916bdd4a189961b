"""Typed video operations as a plain library: one operation, one file, one name.

`registry.PRIMITIVES` is the list. Shared code lives in modules that begin with an underscore;
`_media/` is the only place that talks to libav.
"""
