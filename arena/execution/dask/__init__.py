"""Blocks played on the workers of a Dask cluster: the client's side, and the workers'."""
