"""C functions run on symbols: which algorithm a function is, whatever its C looks like.

The operations of dd.h rest on theorems about algorithms, some functions of exp.h and value.h on arguments in
docs/proofs.md. ALGORITHMS says for which formulas those hold; calls stay calls.
"""

from __future__ import annotations

from typing import Any

from prove.interpreter import Arithmetic, Interpreter, Struct, Table
from prove.source import Source, type_name


class Symbol:
    def __init__(self, text: str, integer: bool = False) -> None:
        self.text = text
        self.integer = integer

    def __getitem__(self, index: int) -> Symbol:
        return Symbol(f"{self.text}[{index}]")

    def __repr__(self) -> str:
        return self.text


class Symbolic(Arithmetic):
    """Numbers are their own formulas. Struct members of a symbol are symbols."""

    def __init__(self, source: Source, running: str) -> None:
        self.intrinsics: dict[str, Any] = {
            name: self._call(name) for name in [*source.functions, "fma", "rint", "fabs", "floor"] if name != running
        }

    def _call(self, name: str) -> Any:
        return lambda *arguments: Symbol(f"{name}({', '.join(map(text, arguments))})")

    def constant(self, value: float) -> Symbol:
        return Symbol(value.hex() if value % 1 else str(value))

    def table(self, name, path, value):
        return Symbol(name + "".join(f"[{text(part)}]" for part in path))

    def binary(self, op, a, b):
        return Symbol(f"({text(a)} {op} {text(b)})")

    compare = binary

    def negate(self, a):
        return Symbol(f"-{text(a)}")

    def member(self, value, name):
        return value.fields[name] if isinstance(value, Struct) else Symbol(f"{text(value)}.{name}", name == "k")

    def to_integer(self, value):
        return value if value.integer else Symbol(f"(int){text(value)}", integer=True)

    def select(self, condition, yes, no):
        return Symbol(f"({text(condition)} ? {text(yes())} : {text(no())})")


def text(value: Any) -> str:
    if isinstance(value, Struct):
        return "{" + ", ".join(map(text, value.fields.values())) + "}"
    if isinstance(value, Table):
        return value.name
    return str(value)


def algorithm(source: Source, name: str) -> str:
    """What a straight-line function returns, in terms of its parameters."""
    definition = source.functions[name]
    parameters = definition.decl.type.args.params if definition.decl.type.args else []
    kinds = [(p.name, type_name(p.type)) for p in parameters]
    symbols = [Symbol(name, kind == "int") for name, kind in kinds if kind != "void"]
    return text(Interpreter(source, Symbolic(source, name)).call(name, *symbols))


PART = "(0x1.3333333333333p-1 * x)"
REST = f"(((x - {PART}) + (2.0 * (x - (2.0 * {PART})))) / 5.0)"
EITHER = {
    "gv_dd_make": "{hi, lo}",
    "gv_scaled": "{m, k}",
    "gv_value_make": "{hi, lo, err, k}",
    "gv_dd_from": "gv_dd_make(a, 0.0)",
    "gv_fast_two_sum": "gv_dd_make((a + b), (b - ((a + b) - a)))",
    "gv_two_sum": "gv_dd_make((a + b), ((a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))))",
    "gv_dd_neg": "gv_dd_make(-a.hi, -a.lo)",
    "gv_dd_scale": "gv_dd_make((a.hi * power_of_two), (a.lo * power_of_two))",
    "gv_dd_sub": "gv_dd_add(a, gv_dd_neg(b))",
    "gv_exp_steps": "rint((s * 0x1.71547652b82fep+6))",
    "gv_sum": "gv_sum_weighted(leading, c, fabs(c.hi))",
    "gv_relative": "gv_times(c.m, fabs(c.m.hi), c.k)",
    "gv_beside": "gv_value_make(leading, ((side < 0.0) ? -(fabs(leading) * 0x1.0000000000000p-200) : "
    "(fabs(leading) * 0x1.0000000000000p-200)), (fabs(leading) * 0x1.0000000000000p-200), 0)",
    "gv_next_to": "gv_value_make(gv_fast_two_sum(leading, c).hi, gv_fast_two_sum(leading, c).lo, "
    "(fabs(c) * 0x1.0000000000000p-48), 0)",
    "gv_three_fifths": f"gv_value_make({PART}, ({REST} + rest), ((fabs({REST}) * 0x1.0000000000000p-50) + unsure), k)",
    "gv_vanishing": "gv_value_make((sign * 0x1.0000000000000p-1), 0.0, 0x1.0000000000000p-1, -1140)",
    "gv_huge": "gv_value_make(1.0, 0.0, 0x1.0000000000000p-1, 2001)",
}
SUM = "gv_fast_two_sum(gv_two_sum(leading, c.hi).hi, (gv_two_sum(leading, c.hi).lo + c.lo))"
EXP = (
    "gv_scaled(gv_dd_add(gv_exp2_table[((int)gv_exp_steps(s.hi) & 63)], gv_dd_mul(gv_exp2_table"
    "[((int)gv_exp_steps(s.hi) & 63)], gv_expm1_tiny(gv_exp_reduced(s, gv_exp_steps(s.hi))))), "
    "(int)floor((gv_exp_steps(s.hi) * 0x1.0000000000000p-6)))"
)


def _value_functions(rel: str) -> dict[str, str]:
    return {
        "gv_exp": EXP,
        "gv_sum_weighted": f"gv_value_make({SUM}.hi, {SUM}.lo, ((weight * {rel}) + "
        f"(fabs({SUM}.lo) * 0x1.0000000000000p-51)), 0)",
        "gv_times": f"gv_value_make(c.hi, c.lo, (weight * {rel}), k)",
    }


P, T = "gv_two_prod(a.hi, b.hi)", "fma(a.hi, b.lo, fma(a.lo, b.hi, (a.lo * b.lo)))"
S, L = "gv_two_sum(a.hi, b.hi)", "gv_two_sum(a.lo, b.lo)"
V = f"gv_fast_two_sum({S}.hi, ({S}.lo + {L}.hi))"
Q, R = "(a.hi / b.hi)", "gv_dd_mul_d(b, (a.hi / b.hi))"
PAIR = EITHER | _value_functions("0x1.0000000000000p-88") | {
    "gv_two_prod": "gv_dd_make((a * b), fma(a, b, -(a * b)))",
    "gv_dd_add": f"gv_fast_two_sum({V}.hi, ({L}.lo + {V}.lo))",
    "gv_dd_add_d": "gv_fast_two_sum(gv_two_sum(a.hi, b).hi, (a.lo + gv_two_sum(a.hi, b).lo))",
    "gv_dd_mul": f"gv_fast_two_sum({P}.hi, ({P}.lo + {T}))",
    "gv_dd_mul_d": "gv_fast_two_sum(gv_two_prod(a.hi, b).hi, fma(a.lo, b, gv_two_prod(a.hi, b).lo))",
    "gv_dd_div": f"gv_fast_two_sum({Q}, (((a.hi - {R}.hi) + (a.lo - {R}.lo)) / b.hi))",
    "gv_exp_reduced": "gv_dd_sub(s, gv_dd_mul_d(gv_ln2_64, n))",
}  # fmt: skip
QUICK = EITHER | _value_functions("0x1.0000000000000p-40") | {
    "gv_two_prod": "gv_dd_from((a * b))",
    "gv_dd_add": "gv_dd_from((a.hi + b.hi))",
    "gv_dd_add_d": "gv_dd_from((a.hi + b))",
    "gv_dd_mul": "gv_dd_from((a.hi * b.hi))",
    "gv_dd_mul_d": "gv_dd_from((a.hi * b))",
    "gv_dd_div": "gv_dd_from((a.hi / b.hi))",
    "gv_exp_reduced": "gv_dd_from(((s.hi - (n * gv_ln2_64_head)) - (n * gv_ln2_64_tail)))",
}  # fmt: skip
SHIFTED = "gv_madd(s, gv_all(0x1.71547652b82fep+0), gv_all(6755399441055744.0))"
STEPS = f"({SHIFTED} - 6755399441055744.0)"
BY_HEAD = f"gv_madd({STEPS}, gv_all(-head), s)"
REDUCED = f"((tail == 0.0) ? {BY_HEAD} : gv_madd({STEPS}, gv_all(-tail), {BY_HEAD}))"
ENCLOSURE = {
    "gv_exp_by": f"gv_as_real((gv_as_bits(gv_polynomial(c, degree, {REDUCED})) + (gv_as_bits({SHIFTED}) << 52)))",
    "gv_magnitude": "gv_as_real((gv_as_bits(x) & 9223372036854775807))",
    "gv_times_sign": "gv_as_real((gv_as_bits(c) ^ (gv_as_bits(x) & 9223372036854775808)))",
    "gv_all": "c",
    "gv_min": "((a < b) ? a : b)",
    "gv_max": "((a > b) ? a : b)",
}
R_OF_H = (
    "gv_lanes_madd(gv_lanes_madd(gv_lanes_madd(gv_lanes_last_bits(c[7], 36), h, c[7]), (h * h), "
    "gv_lanes_madd(c[6], h, c[5])), (h * h), gv_lanes_madd(c[4], h, c[3]))"
)
Q_OF_H = f"((h * h) * {R_OF_H})"
T1_H = "gv_lanes_product(c[1], h)"
T0_T1_H = f"gv_lanes_fast_two_sum(c[0], {T1_H}.hi)"
V_OF_H = f"gv_lanes_fast_two_sum({T0_T1_H}.hi, {Q_OF_H})"
PIECE = {
    "gv_piece_sum": f"{{{V_OF_H}.hi, ((gv_lanes_madd(gv_lanes_last_bits(c[2], 32), h, {T1_H}.lo) + c[2]) + "
    f"({T0_T1_H}.lo + {V_OF_H}.lo)), gv_lanes_madd(gv_lanes_abs({Q_OF_H}), gv_lanes_all(f.q_loss), "
    "gv_lanes_last_bits(c[6], 50))}",
    "gv_lanes_pair_make": "{hi, lo}",
    "gv_lanes_fast_two_sum": "gv_lanes_pair_make((a + b), (b - ((a + b) - a)))",
}
R_OF_PARTS = "(by.first + by.second)"
P_OF_R = (
    f"gv_lanes_madd(({R_OF_PARTS} * {R_OF_PARTS}), "
    f"gv_lanes_exp_polynomial({R_OF_PARTS}, ({R_OF_PARTS} * {R_OF_PARTS})), by.second)"
)
E_HI = f"gv_lanes_madd(by.power, (by.first + {P_OF_R}), by.power)"
ONE, SUM_HI = "gv_lanes_all(1.0)", "(gv_lanes_all(1.0) + e.hi)"
Y = "(x * sum.inverse)"
Q_LO = f"(gv_logistic_rest({ONE}, sum.inverse, sum) * sum.inverse)"
ONE_LESS_Q = f"gv_lanes_fast_two_sum({ONE}, -sum.inverse)"
M_HI = f"gv_lanes_product(w.hi, {ONE_LESS_Q}.hi)"
M_LO = f"gv_lanes_madd(w.hi, ({ONE_LESS_Q}.lo - {Q_LO}), {M_HI}.lo)"
FACTOR = f"gv_lanes_fast_two_sum({ONE}, {M_HI}.hi)"
SLOPE = f"gv_lanes_product(sum.inverse, {FACTOR}.hi)"
SLOPE_LO = f"gv_lanes_madd(sum.inverse, ({FACTOR}.lo + {M_LO}), gv_lanes_madd({Q_LO}, {FACTOR}.hi, {SLOPE}.lo))"
SLOPE_LOSS = f"gv_logistic_loss(gv_lanes_madd(gv_lanes_abs({M_HI}.hi), sum.inverse, sum.inverse), relative)"
SQUARE = "gv_lanes_product(x, x)"
BY_SQUARE = f"gv_lanes_product(gv_lanes_all(m.hi), {SQUARE}.hi)"
K_SUM = f"(gv_lanes_all(k.hi) + {BY_SQUARE}.hi)"
K_AND_SQUARE = f"(gv_lanes_all(k.hi), {BY_SQUARE}.hi)"
K_LOST = f"((gv_lanes_max{K_AND_SQUARE} - {K_SUM}) + gv_lanes_min{K_AND_SQUARE})"
BY_SQUARE_LO = (
    f"gv_lanes_madd(gv_lanes_all(m.hi), {SQUARE}.lo, gv_lanes_madd(gv_lanes_all(m.lo), {SQUARE}.hi, {BY_SQUARE}.lo))"
)
BY_K = "gv_lanes_product(gv_lanes_all(gv_1_702.hi), x)"
BY_STEPS = "gv_lanes_product(i, gv_lanes_all((2.0 * gv_ln2_64.hi)))"
POWERED = "gv_lanes_fast_two_sum(power, gv_lanes_product(power, p.hi).hi)"
C_AND_P = "gv_lanes_fast_two_sum(gv_lanes_all(c.hi), p.hi)"
TERMS = "gv_lanes_pair_make(gv_lanes_exp_rest(r.hi), gv_lanes_all(0.0))"
for _n in (4, 3, 2):
    TERMS = f"gv_lanes_horner({TERMS}, gv_exp_coefficient[{_n}], r.hi)"
EXP_REST = "gv_lanes_all(gv_exp_coefficient[10].hi)"
for _n in (9, 8, 7, 6, 5):
    EXP_REST = f"gv_lanes_madd({EXP_REST}, h, gv_lanes_all(gv_exp_coefficient[{_n}].hi))"
R_SUM = f"gv_lanes_fast_two_sum(r.hi, gv_lanes_product({TERMS}.hi, r.hi).hi)"
REMAINDER = {
    True: "gv_lanes_madd(a, b, c)",
    False: "((c + gv_lanes_product(a, b).hi) + gv_lanes_product(a, b).lo)",
}
LOGISTIC = {
    "gv_logistic_exp": f"gv_lanes_pair_make({E_HI}, gv_lanes_madd(by.power, {P_OF_R}, "
    f"gv_lanes_remainder(by.power, by.first, (by.power - {E_HI}))))",
    "gv_logistic_wide_rest": f"gv_lanes_two_sum(({BY_STEPS}.hi - s.hi), (({BY_STEPS}.lo - s.lo) + "
    "gv_lanes_madd(i, gv_lanes_all((2.0 * gv_ln2_64.lo)), off)))",
    "gv_logistic_scaled": f"gv_lanes_pair_make({POWERED}.hi, ({POWERED}.lo + gv_lanes_madd(power, p.lo, "
    "gv_lanes_product(power, p.hi).lo)))",
    "gv_lanes_horner": f"gv_lanes_pair_make(gv_lanes_product({C_AND_P}.hi, h).hi, gv_lanes_madd(({C_AND_P}.lo + "
    f"(p.lo + gv_lanes_all(c.lo))), h, gv_lanes_product({C_AND_P}.hi, h).lo))",
    "gv_lanes_exp_rest": f"({EXP_REST} * h)",
    "gv_lanes_expm1": f"gv_lanes_pair_make({R_SUM}.hi, (({R_SUM}.lo + gv_lanes_madd({TERMS}.lo, r.hi, "
    f"gv_lanes_product({TERMS}.hi, r.hi).lo)) + gv_lanes_madd(r.lo, {R_SUM}.hi, r.lo)))",
    "gv_lanes_two_sum": "gv_lanes_pair_make((a + b), ((a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))))",
    "gv_logistic_rest": "gv_lanes_madd(-y, sum.lo, gv_lanes_remainder(-y, sum.hi, x))",
    "gv_logistic_divisor": f"{{{SUM_HI}, (((gv_lanes_max({ONE}, e.hi) - {SUM_HI}) + gv_lanes_min({ONE}, e.hi)) "
    f"+ e.lo), ({ONE} / {SUM_HI})}}",
    "gv_logistic_function": f"{{{Y}, (gv_logistic_rest(x, {Y}, sum) * sum.inverse), "
    f"gv_logistic_loss(gv_lanes_abs({Y}), relative)}}",
    "gv_logistic_derivative": f"{{{SLOPE}.hi, {SLOPE_LO}, {SLOPE_LOSS}}}",
    "gv_logistic_slope_sigmoid": f"gv_lanes_pair_make({BY_K}.hi, "
    f"gv_lanes_madd(gv_lanes_all(gv_1_702.lo), x, {BY_K}.lo))",
    "gv_logistic_cubic": f"gv_lanes_pair_make(gv_lanes_product(x, {K_SUM}).hi, gv_lanes_madd(x, ({K_LOST} + "
    f"({BY_SQUARE_LO} + gv_lanes_all(k.lo))), gv_lanes_product(x, {K_SUM}).lo))",
    "gv_logistic_slope_tanh": "gv_logistic_cubic(gv_2_sqrt_2_pi, gv_exp_cubic, x)",
    "gv_logistic_steep_tanh": "gv_logistic_cubic(gv_2_sqrt_2_pi, gv_exp_cubic_3, x)",
}
