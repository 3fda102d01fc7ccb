"""The stored run: Parquet and `manifest.json`, its integrity, results committed under `data/runs`."""
