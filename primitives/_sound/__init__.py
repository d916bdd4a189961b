"""Signal processing of sound: arrays in, arrays out. No files are opened here except the network's weights."""
