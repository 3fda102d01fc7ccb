"""Reference values, tables, verification by upload, published runs and a web page over HTTP.

All numbers come from lower layers; here are routes, limits and a store. `create_app` is in `app.py`.
"""
