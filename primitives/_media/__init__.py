"""The media core: the only code that talks to libav.

`source` opens files safely, `scan` counts what is really in them, `timeline` maps frames to times (pure),
`frames` decodes exact frames, `picture` turns a frame into pixels as a viewer sees them, `loudness`
measures sound. `render` writes edits: `film` and `packets` know the sources, `h264` their bytes, `smart` copies
and matches, `encode` chooses encoders, `pictures` and `conform` make new frames, `sound_track` mixes the sound and
`sound_write` writes it. Importing a primitive must not import these: they pull in libav, OpenCV and numpy.
"""
