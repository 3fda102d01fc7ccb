"""The truth over HTTP: reference values, tables, verification by upload, published runs, and a web page.

Numbers come from the floors below; here are doors, limits and a store. `create_app` is in `app.py`.
"""
