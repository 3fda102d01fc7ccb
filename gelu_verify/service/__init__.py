"""The HTTP service: reference values, tables, verification by upload, published runs, and a web page.

`create_app` (`app.py`) makes the ASGI application, `run_server` (`server.py`) serves it. All numbers come from the
layers below.
"""
