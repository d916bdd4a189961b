"""What a benchmark task is, and how one is made: builders per family, importers, the four gates.

`defects/` holds one file per injectable defect. Together with the scorer, this is the only
package that may open an answers folder.
"""
