"""C++ functions of std::vector, valarray, span and array: called with arrays, and a result of another size is seen."""

import pytest
from foreign import bits, chosen, needs_cc
from marking import nightly

from gelu_verify.errors import TargetFailure, UsageError

SOURCE = """
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <valarray>
#include <vector>
using Vec = std::vector<float>;
template <class T> static T half(const T &x) { T y(x); for (auto &v : y) v /= 2; return y; }
std::vector<float> returned(const std::vector<float> &x) { return half(x); }
Vec named(const Vec &x) { return half(x); }
Vec by_value(Vec x) { for (float &v : x) v /= 2; return x; }
Vec moved(Vec &&x) { for (float &v : x) v /= 2; return std::move(x); }
const Vec &kept(const Vec &x) { static Vec y; y = half(x); return y; }
void written(const std::vector<float> &x, std::vector<float> &y) { y = half(x); }
void swapped(Vec &out, Vec &in) { for (unsigned i = 0; i < in.size(); i++) out[i] = in[i] / 2; }
void in_place(Vec &x) { x = half(x); }
void spans(std::span<const float> x, std::span<float> y) { for (unsigned i = 0; i < x.size(); i++) y[i] = x[i] / 2; }
void one_span(std::span<float> x) { for (float &v : x) v /= 2; }
std::valarray<float> values(const std::valarray<float> &x) { return half(x); }
Vec scaled(const std::vector<float> &x, float by = 0.5f) { Vec y(x); for (float &v : y) v *= by; return y; }
template <class T> std::vector<T> of_any(const std::vector<T> &x) { return half(x); }
using Three = std::array<float, 3>;
Three fixed(const Three &x) { return half(x); }
Three fixed_moved(Three &&x) { for (float &v : x) v /= 2; return x; }
void fixed_out(Three x, Three &y) { y = half(x); }
void fixed_spans(std::span<const float, 3> x, std::span<float, 3> y) { for (int i = 0; i < 3; i++) y[i] = x[i] / 2; }
void references(const float (&x)[2][3], float (&y)[2][3])
{
    for (int i = 0; i < 6; i++) y[i / 3][i % 3] = x[i / 3][i % 3] / 2;
}
template <int N> void of_any_size(float (&x)[N]) { for (float &v : x) v /= 2; }
void mixed(const Three &x, Vec &y) { y = Vec(x.begin(), x.end()); }
void more(const Three &x, std::array<float, 4> &y) { for (int i = 0; i < 3; i++) y[i] = x[i] / 2; }
struct Layer {
    Vec operator()(const Vec &x) const { return half(x); }
    Vec forward(const Vec &x) { return half(x); }
};
Vec longer(const Vec &x) { Vec y = half(x); y.push_back(1); return y; }
void appended(const Vec &x, Vec &y) { for (float v : x) y.push_back(v / 2); }
void transformed(const Vec &x, Vec &out)
{ std::transform(x.begin(), x.end(), std::back_inserter(out), [](float v) { return v / 2; }); }
void after_itself(Vec &x)
{
    unsigned n = x.size();
    for (unsigned i = 0; i < n; i++) x.push_back(x[i] / 2);
    x.erase(x.begin(), x.begin() + n);
}
void cleared(const Vec &x, Vec &y) { y.clear(); for (float v : x) y.push_back(v / 2); }
void twice(const Vec &x, Vec &y) { for (int i = 0; i < 2; i++) for (float v : x) y.push_back(v / 2); }
void writes_x(Vec &x, Vec &y) { y = half(x); x[0] = 1; }
std::vector<std::vector<float>> nested(const std::vector<std::vector<float>> &x) { return x; }
float sum(const std::vector<float> &x) { float y = 0; for (float v : x) y += v; return y; }
"""
HALVES = ("returned", "spans", "appended", "Layer::forward", "swapped", "fixed", "references")
SELDOM = ("named", "by_value", "moved", "kept", "written", "in_place", "one_span", "values", "scaled", "of_any<float>",
          "fixed_moved", "fixed_out", "fixed_spans", "of_any_size<5>", "transformed", "cleared",
          "after_itself")  # fmt: skip
pytestmark = needs_cc


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("containers") / "k.cpp"
    path.write_text(SOURCE)
    return path


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [*HALVES, *nightly(*SELDOM, "Layer")])
def test_arrays_go_in_and_come_out(file, name):
    target = chosen(f"{file}:{name}", cflags="-std=c++20")
    x, want = bits("float32", "1", "-3", "-0", "inf", "nan"), bits("float32", "0.5", "-1.5", "-0", "inf", "nan")
    for n in (1, 5):
        assert target.evaluate("float32", x[:n].copy()).tolist() == want[:n].tolist()
    assert "around " in target.note


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("longer", "returned a container of another size"),
        *nightly(("twice", "returned a container of another size"), ("writes_x", "changed its input at index 0")),
    ],
)
def test_another_size_and_a_changed_input_are_failures(file, name, message):
    with pytest.raises(TargetFailure, match=message):
        chosen(f"{file}:{name}", cflags="-std=c++20").evaluate("float32", bits("float32", "2", "3"))


@pytest.mark.parametrize("name", ["sum", "mixed", *nightly("nested")])
def test_what_has_no_array_of_results_is_refused_as_it_is_declared(file, name):
    with pytest.raises(UsageError, match=rf"declared .* {name}\(const .*it takes no array"):
        chosen(f"{file}:{name}", cflags="-std=c++20")


def test_arrays_of_two_sizes_are_a_question_about_what_is_declared(file):
    declared = r"declared void more\(const Three & x, std::array<float, 4> & y\)"
    with pytest.raises(UsageError, match=rf"{declared}: it does not say how many .*--call 'f\(x, y\); exactly=3'"):
        chosen(f"{file}:more", cflags="-std=c++20")
