"""Stored runs: Parquet and `manifest.json`, integrity, runs committed under `data/runs`."""
