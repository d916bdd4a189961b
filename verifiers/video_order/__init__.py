"""Sequencing (contract, "Sequencing"): a predicted order of shuffled clips against the true order."""
