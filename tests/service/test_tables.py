"""Tables over HTTP, and the same as static files."""

import io
import json
import re
import shutil
import subprocess
from hashlib import sha256

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

pytest.importorskip("fastapi", reason="needs the extra serve")
from gelu_verify.cli import main
from gelu_verify.formats import FORMATS, get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.truth.values import reference_bits

KINDS = ("npy", "csv", "parquet", "bin", "h")


def read(kind, content, fmt):
    """(x, y) of a file, whole or not."""
    if kind == "npy":
        found = np.load(io.BytesIO(content), allow_pickle=False)
    elif kind == "bin":
        found = np.frombuffer(content, fmt.uint.newbyteorder("<"))
        found = found if fmt.width <= 16 else found.reshape(-1, 2)
    elif kind == "csv":
        rows = [line.split(",") for line in content.decode().splitlines()[1:]]
        assert {len(row) for row in rows} == {4}
        found = np.array([[int(x, 16), int(y, 16)] for _, x, y, _ in rows], np.uint64)
    elif kind == "parquet":
        table = pq.read_table(io.BytesIO(content))
        found = np.stack([table["x_bits"].to_numpy(), table["y_bits"].to_numpy()], axis=1)
    else:
        body = re.sub(rb"/\*.*?\*/", b"", content, flags=re.DOTALL)
        found = np.array([int(word, 16) for word in re.findall(rb"0x[0-9a-f]+", body)], np.uint64)
        found = found if fmt.width <= 16 else found.reshape(-1, 2)
    return (np.arange(len(found)), found) if found.ndim == 1 else (found[:, 0], found[:, 1])


@pytest.mark.parametrize("dtype", FORMATS)
def test_files_hold_reference_values(client, dtype):
    fmt = get_format(dtype)
    for kind in KINDS:
        done = client.get(f"/v1/tables/gelu/{dtype}.{kind}")
        x, y = (column.astype(fmt.uint) for column in read(kind, done.content, fmt))
        assert len(x) == 2**fmt.width if fmt.width <= 16 else len(x) > 500, kind
        assert np.array_equal(y, reference_bits("gelu", dtype, x)), kind


def test_content_addresses_hold(client):
    entry = client.get("/v1/tables/silu/float16").json()
    assert {file["format"] for file in entry["files"]} == set(KINDS)
    for file in entry["files"]:
        done = client.get(file["url"])
        assert sha256(done.content).hexdigest().startswith(file["sha256_16"])
        assert "immutable" in done.headers["cache-control"]
        named = client.get(f"/v1/tables/silu/float16.{file['format']}")
        assert named.headers["content-location"] == file["url"]
        assert "immutable" not in named.headers["cache-control"]
        assert client.get(file["url"], headers={"If-None-Match": done.headers["etag"]}).status_code == 304
    stale = entry["files"][0]["url"].replace(entry["files"][0]["sha256_16"], "0" * 16)
    assert client.get(stale).status_code == 404


@pytest.mark.parametrize(
    "path", ["gelu/float16.exe", "gelu/float31.npy", "gleu/float16.npy", "gelu/..%2f..", "gelu/.npy"]
)
def test_tables_that_do_not_exist_are_404(client, path):
    done = client.get(f"/v1/tables/{path}")
    assert (done.status_code, done.headers["content-type"]) == (404, "application/problem+json")


def test_csv_has_the_columns_of_numpys_validation_sets(client):
    lines = client.get("/v1/tables/gelu/float32.csv").text.splitlines()
    assert lines[0] == "dtype,input,output,ulperrortol"
    assert all(re.fullmatch(r"np\.float32,0x[0-9a-f]{8},0x[0-9a-f]{8},\d+", line) for line in lines[1:])


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_header_compiles(client, tmp_path):
    for dtype in ("bfloat16", "float64"):
        (tmp_path / f"{dtype}.h").write_bytes(client.get(f"/v1/tables/gelu/{dtype}.h").content)
    (tmp_path / "t.c").write_text(
        '#include "bfloat16.h"\n#include "float64.h"\n'
        "int main(void) { return !(gelu_bfloat16[0x3f80] == 0x3f57 && sizeof gelu_float64[0] == 16); }\n"
    )
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run(["./t"], cwd=tmp_path, check=True)


def test_inputs_are_those_of_the_plan(client):
    done = client.get("/v1/inputs/quick/float64.bin?function=silu&seed=3")
    x = np.frombuffer(done.content, "<u8")
    want = np.concatenate([chunk.x_bits() for chunk in make_plan("quick", "silu", "float64", 3).chunks])
    assert np.array_equal(x, want)
    assert done.headers["x-inputs-sha256"] == sha256(done.content).hexdigest()
    assert done.headers["x-inputs-count"] == str(len(x))
    again = client.get(
        "/v1/inputs/quick/float64.bin?function=silu&seed=3", headers={"If-None-Match": done.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "status"),
    [("nothing/float32.bin", 404), ("default/float8_e5m2.bin", 404), ("exhaustive/float32.bin", 404),
     ("exhaustive/float64.bin", 404), ("default/float32.bin?function=no", 404), ("default/float32.bin?seed=-1", 422)],
)  # fmt: skip
def test_inputs_that_do_not_exist(client, path, status):
    assert client.get(f"/v1/inputs/{path}").status_code == status


@pytest.mark.nightly
def test_a_static_site_has_the_servers_bytes_under_the_servers_paths(client, tmp_path):
    place = tmp_path / "site"
    done = CliRunner().invoke(
        main, ["export", "site", str(place), "--function", "gelu", "--documentation", "../index.html"]
    )
    assert done.exit_code == 0, done.output
    assert '<a href="../index.html">Documentation</a>' in (place / "index.html").read_text()
    assert json.loads((place / "v1/functions.json").read_text())["static"] is True
    paths = [str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()]
    assert {"index.html", "assets/app.js", "v1/tables/gelu/bfloat16.npy", "v1/inputs/default/float32.bin"} <= set(paths)
    for path in paths:
        if path in ("index.html", "v1/functions.json") or re.fullmatch(r"v1/tables/gelu/\w+\.json", path):
            continue
        answer = client.get(f"/{path}")
        assert answer.status_code == 200, path
        assert answer.content == (place / path).read_bytes(), path
    again = CliRunner().invoke(main, ["export", "site", str(place)])
    assert again.exit_code == 2
    assert "already there" in again.output
