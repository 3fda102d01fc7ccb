"""What pytest holds: limits that a reader sees. The gate holds everything else (gelu-budgets.toml)."""

from pathlib import Path

from gelu_verify.testing import assert_gelu_accurate

KERNEL = f"{Path(__file__).parents[1] / 'src' / 'gelu.c'}:gelu_f32"


def test_gelu_is_accurate_where_networks_are():
    assert_gelu_accurate(KERNEL, "gelu", "float32", regions={"[-1,0)": 4, "[0,1)": 2, "[1,inf)": 2})
