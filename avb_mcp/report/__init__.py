"""From ledger to page: statistics, tables, figures. Reads records, never runs anything."""
