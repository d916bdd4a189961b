"""Plan → run → ledger: the same task under several harnesses and arms, resumable and isolated."""
