// Programs that read x.bin and write y.bin, for any function and dtype: one template for each language. They begin with a
// formula of the function; the user puts an implementation in its place.
import { doubleOf, formatOf } from "./formats.js";
import { baseOf, formulaOf, valuesOf } from "./parameters.js";

// In words that all languages share; z is x in the parameters of the function. For other functions the program returns x.
const FORMULAS = {
  gelu: "x / 2.0 * erfc(-z / 1.4142135623730951)",
  gelu_tanh: "x / (1.0 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))",
  gelu_sigmoid: "x / (1.0 + exp(-1.702 * x))",
  silu: "x / (1.0 + exp(-z))",
};

// The formula, with exp and erfc as a language calls them.
function formula(fn, names) {
  const values = Object.fromEntries(Object.entries(valuesOf(fn)).map(([name, text]) => [name, literal(text)]));
  const { mu = "0.0", sigma = "1.0", beta } = values;
  const z = beta ? `(${beta} * x)` : values.mu || values.sigma ? `((x - ${mu}) / ${sigma})` : "x";
  return (FORMULAS[baseOf(fn)] ?? "x").replace(/\bz\b/g, z).replace(/\b(exp|erfc)\b/g, (name) => names[name] ?? name);
}

// An exact parameter as a double.
function literal(text) {
  const value = text.split("/").map(doubleOf).reduce((a, b) => a / b);
  if (Number.isNaN(value)) throw new Error(`${text} is not a number`);
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

// What the templates need of a dtype. A float of up to 16 bits is (m - e 2^shift) 2^(e + low), m its bits without the sign and
// e = max(m >> shift, 1) - 1.
function partsOf(dtype) {
  const format = formatOf(dtype);
  const { width, precision, emin, emax, infinity, infinite, nan, sign } = format;
  const hex = (bits) => `0x${bits.toString(16)}`;
  return width > 16 ? { dtype, width } : {
    dtype, width, emin, shift: precision - 1, low: emin - precision + 1, field: 2 ** (precision - 1), beyond: emax + 1,
    rest: hex(sign - 1), sign: hex(sign), top: hex(infinity), nan: hex(nan), infinite,
  };
}

const LANGUAGES = {
  C: {
    file: "mine.c", command: "cc -O2 -Wall mine.c -o mine -lm && ./mine",
    names: {}, types: { 8: "uint8_t", 16: "uint16_t", 32: "float", 64: "double" },
    codec: (type, p) => `
/* The number that the bits of a ${p.dtype} stand for. */
static double decode(${type} bits) {
    const int m = bits & ${p.rest}, e = m >> ${p.shift} ? (m >> ${p.shift}) - 1 : 0;
    const double size = ${p.infinite ? `m > ${p.top} ? NAN : m == ${p.top} ? INFINITY` : `m == ${p.top} ? NAN`} : ldexp(m - e * ${p.field}, e + ${p.low});
    return bits & ${p.sign} ? -size : size;
}

/* The bits of the nearest ${p.dtype}, of two the even one. */
static ${type} encode(double y) {
    if (isnan(y)) return ${p.nan};
    const double size = fmin(fabs(y), ldexp(1, ${p.beyond}));
    const int e = size < ldexp(1, ${p.emin}) ? ${p.emin} : ilogb(size);
    const int m = (e - ${p.emin}) * ${p.field} + (int)rint(ldexp(size, ${p.shift} - e));
    return (signbit(y) ? ${p.sign} : 0) | (m < ${p.top} ? m : ${p.top});
}
`,
    text: (type, codec, f, says) => `/* ${says.join("\n   ")} */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
${codec}
static ${type} mine(${type} input) {
    const double x = ${codec ? "decode(input)" : "input"};
    return ${codec ? "encode" : `(${type})`}(${f});
}

int main(void) {
    FILE *in = fopen("x.bin", "rb"), *out = fopen("y.bin", "wb");
    if (!in || !out) return perror("x.bin or y.bin"), 1;
    for (${type} x; fread(&x, sizeof x, 1, in) == 1;) {
        const ${type} y = mine(x);
        fwrite(&y, sizeof y, 1, out);
    }
    return fclose(in) | fclose(out);
}
`,
  },
  "C++": {
    file: "mine.cpp", command: "c++ -O2 -Wall mine.cpp -o mine && ./mine",
    names: { exp: "std::exp", erfc: "std::erfc" }, types: { 8: "std::uint8_t", 16: "std::uint16_t", 32: "float", 64: "double" },
    codec: (type, p) => `
// The number that the bits of a ${p.dtype} stand for.
static double decode(${type} bits) {
    const int m = bits & ${p.rest}, e = std::max(m >> ${p.shift}, 1) - 1;
    const double size = ${p.infinite ? `m > ${p.top} ? NAN : m == ${p.top} ? INFINITY` : `m == ${p.top} ? NAN`} : std::ldexp(m - e * ${p.field}, e + ${p.low});
    return bits & ${p.sign} ? -size : size;
}

// The bits of the nearest ${p.dtype}, of two the even one.
static ${type} encode(double y) {
    if (std::isnan(y)) return ${p.nan};
    const double size = std::min(std::fabs(y), std::ldexp(1.0, ${p.beyond}));
    const int e = size < std::ldexp(1.0, ${p.emin}) ? ${p.emin} : std::ilogb(size);
    const int m = (e - ${p.emin}) * ${p.field} + int(std::nearbyint(std::ldexp(size, ${p.shift} - e)));
    return (std::signbit(y) ? ${p.sign} : 0) | std::min(m, ${p.top});
}
`,
    text: (type, codec, f, says) => `// ${says.join("\n// ")}
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
${codec}
static ${type} mine(${type} input) {
    const double x = ${codec ? "decode(input)" : "input"};
    return ${codec ? "encode" : type}(${f});
}

int main() {
    std::ifstream in("x.bin", std::ios::binary);
    std::ofstream out("y.bin", std::ios::binary);
    for (${type} x; in.read(reinterpret_cast<char *>(&x), sizeof x);) {
        const ${type} y = mine(x);
        out.write(reinterpret_cast<const char *>(&y), sizeof y);
    }
    return !(in.eof() && out.flush());
}
`,
  },
  Go: {
    file: "mine.go", command: "go run mine.go",
    names: { exp: "math.Exp", erfc: "math.Erfc" }, types: { 8: "uint8", 16: "uint16", 32: "float32", 64: "float64" },
    codec: (type, p) => `
// The number that the bits of a ${p.dtype} stand for.
func decode(bits ${type}) float64 {
	m := int(bits & ${p.rest})
	e := 0
	if m>>${p.shift} > 0 {
		e = m>>${p.shift} - 1
	}
	size := math.Ldexp(float64(m-e*${p.field}), e+${p.low})
	if m ${p.infinite ? ">" : "=="} ${p.top} {
		size = math.NaN()
	}${p.infinite ? ` else if m == ${p.top} {
		size = math.Inf(1)
	}` : ""}
	if bits&${p.sign} != 0 {
		return -size
	}
	return size
}

// The bits of the nearest ${p.dtype}, of two the even one.
func encode(y float64) ${type} {
	if math.IsNaN(y) {
		return ${p.nan}
	}
	size, e, sign := math.Min(math.Abs(y), math.Ldexp(1, ${p.beyond})), ${p.emin}, ${type}(0)
	if size >= math.Ldexp(1, ${p.emin}) {
		e = math.Ilogb(size)
	}
	if math.Signbit(y) {
		sign = ${p.sign}
	}
	m := (e-(${p.emin}))*${p.field} + int(math.RoundToEven(math.Ldexp(size, ${p.shift}-e)))
	if m > ${p.top} {
		m = ${p.top}
	}
	return sign | ${type}(m)
}
`,
    text: (type, codec, f, says, p) => `// ${says.join("\n// ")}
package main

import (
	"bytes"
	"encoding/binary"${codec || f.includes("math.") ? '\n\t"math"' : ""}
	"os"
)
${codec}
func mine(input ${type}) ${type} {
	x := ${codec ? "decode(input)" : "float64(input)"}
	return ${codec ? "encode" : type}(${f})
}

func main() {
	data, err := os.ReadFile("x.bin")
	if err != nil {
		panic(err)
	}
	values := make([]${type}, len(data)/${p.width / 8})
	binary.Read(bytes.NewReader(data), binary.LittleEndian, values)
	for i, x := range values {
		values[i] = mine(x)
	}
	var out bytes.Buffer
	binary.Write(&out, binary.LittleEndian, values)
	if err := os.WriteFile("y.bin", out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}
`,
  },
  Rust: {
    file: "mine.rs", command: "rustc --edition 2021 -O mine.rs && ./mine",
    names: { exp: "f64::exp" }, types: { 8: "u8", 16: "u16", 32: "f32", 64: "f64" },
    codec: (type, p) => `
/// The number that the bits of a ${p.dtype} stand for.
fn decode(bits: ${type}) -> f64 {
    let m = (bits & ${p.rest}) as i32;
    let e = (m >> ${p.shift}).max(1) - 1;
    let size = match m {
        ${p.top} => f64::${p.infinite ? "INFINITY" : "NAN"},
        m if m > ${p.top} => f64::NAN,
        m => (m - e * ${p.field}) as f64 * f64::powi(2.0, e + ${p.low}),
    };
    if bits & ${p.sign} == 0 { size } else { -size }
}

/// The bits of the nearest ${p.dtype}, of two the even one.
fn encode(y: f64) -> ${type} {
    if y.is_nan() {
        return ${p.nan};
    }
    let size = y.abs().min(f64::powi(2.0, ${p.beyond}));
    let e = (size.log2().floor() as i32).max(${p.emin});
    let m = (e - (${p.emin})) * ${p.field} + (size * f64::powi(2.0, ${p.shift} - e)).round_ties_even() as i32;
    let sign = if y.is_sign_negative() { ${p.sign} } else { 0 };
    sign | m.min(${p.top}) as ${type}
}
`,
    text: (type, codec, f, says, p) => `//! ${says.join("\n//! ")}
${f.includes("erfc") ? `
extern "C" {
    fn erfc(x: f64) -> f64; // of the C library
}
` : ""}${codec}
fn mine(input: ${type}) -> ${type} {
    let x = ${codec ? "decode(input)" : "input as f64"};
    let y = ${f.includes("erfc") ? `unsafe { ${f} }` : f};
    ${codec ? "encode(y)" : `y as ${type}`}
}

fn main() -> std::io::Result<()> {
    let x = std::fs::read("x.bin")?;
    let y: Vec<u8> = x
        .chunks_exact(${p.width / 8})
        .flat_map(|bytes| mine(${type}::from_le_bytes(bytes.try_into().unwrap())).to_le_bytes())
        .collect();
    std::fs::write("y.bin", y)
}
`,
  },
  JavaScript: {
    file: "mine.cjs", command: "node mine.cjs",
    names: { exp: "Math.exp" }, types: { 8: "Uint8Array", 16: "Uint16Array", 32: "Float32Array", 64: "Float64Array" },
    codec: (type, p) => `
// The number that the bits of a ${p.dtype} stand for.
function decode(bits) {
  const m = bits & ${p.rest};
  const e = Math.max(m >> ${p.shift}, 1) - 1;
  const size = ${p.infinite ? `m > ${p.top} ? NaN : m === ${p.top} ? Infinity` : `m === ${p.top} ? NaN`} : (m - e * ${p.field}) * 2 ** (e + ${p.low});
  return bits & ${p.sign} ? -size : size;
}

// The bits of the nearest ${p.dtype}, of two the even one.
function encode(y) {
  if (Number.isNaN(y)) return ${p.nan};
  const size = Math.min(Math.abs(y), 2 ** ${p.beyond});
  const e = Math.max(Math.floor(Math.log2(size)), ${p.emin});
  const even = (value) => value + 2 ** 52 - 2 ** 52; // the nearest integer
  const m = (e - ${p.emin}) * ${p.field} + even(size * 2 ** (${p.shift} - e));
  return (y < 0 || Object.is(y, -0) ? ${p.sign} : 0) | Math.min(m, ${p.top});
}
`,
    text: (type, codec, f, says) => `// ${says.join("\n// ")}
const { readFileSync, writeFileSync } = require("node:fs");
${codec}${f.includes("erfc") ? `
// The complementary error function, which JavaScript lacks: a series, and a continued fraction in the tail.
function erfc(v) {
  if (v < 0) return 2 - erfc(-v);
  const scale = Math.exp(-v * v) / Math.sqrt(Math.PI);
  if (v < 2) {
    let [term, sum] = [v, v];
    for (let n = 1; n < 60; n++) sum += term *= (2 * v * v) / (2 * n + 1);
    return 1 - 2 * scale * sum;
  }
  let fraction = v;
  for (let n = 80; n > 0; n--) fraction = v + n / 2 / fraction;
  return scale / fraction;
}
` : ""}
function mine(input) {
  const x = ${codec ? "decode(input)" : "input"};
  return ${codec ? `encode(${f})` : f};
}

const x = new ${type}(new Uint8Array(readFileSync("x.bin")).buffer);
writeFileSync("y.bin", new Uint8Array(x.map(mine).buffer));
`,
  },
  Python: {
    file: "mine.py", command: "python3 mine.py",
    names: { exp: "np.exp", erfc: "np.vectorize(math.erfc)" }, types: { 8: '"u1"', 16: '"<u2"', 32: '"<f4"', 64: '"<f8"' },
    codec: (type, p) => `

def decode(bits):
    """The numbers that the bits of ${p.dtype} stand for."""
    m = (bits & ${p.rest}).astype(int)
    e = np.maximum(m >> ${p.shift}, 1) - 1
    size = np.ldexp(m - e * ${p.field}.0, e + ${p.low})
    size[m == ${p.top}] = np.${p.infinite ? "inf" : "nan"}
    size[m > ${p.top}] = np.nan
    return np.where(bits & ${p.sign}, -size, size)


def encode(y):
    """The bits of the nearest ${p.dtype}, of two the even one."""
    size = np.minimum(np.abs(np.nan_to_num(y, nan=0.0)), 2.0**${p.beyond})
    e = np.where(size < 2.0**${p.emin}, ${p.emin}, np.frexp(size)[1] - 1)
    m = (e - ${p.emin}) * ${p.field} + np.rint(np.ldexp(size, ${p.shift} - e)).astype(int)
    m = np.minimum(m, ${p.top}) | np.where(np.signbit(y), ${p.sign}, 0)
    return np.where(np.isnan(y), ${p.nan}, m).astype(${type})
`,
    text: (type, codec, f, says) => `# ${says.join("\n# ")}
${f.includes("math.") ? "import math\n\n" : ""}import numpy as np
${codec}

def mine(inputs):
    x = ${codec ? "decode(inputs)" : "inputs.astype(float)"}
    return ${codec ? `encode(${f})` : `(${f}).astype(${type})`}


with np.errstate(all="ignore"):
    mine(np.fromfile("x.bin", ${type})).tofile("y.bin")
`,
  },
};

export const languages = Object.keys(LANGUAGES);

// The name of the file, the command that compiles and runs it, and the program.
export function program(language, fn, dtype) {
  const { file, command, names, types, codec, text } = LANGUAGES[language];
  const p = partsOf(dtype);
  const f = formula(fn, names);
  const start = f === "x" ? "which returns x" : "which has a formula in double precision";
  const says = [`${fn}(x) = ${formulaOf(fn)}`, `Reads ${dtype} values from x.bin and writes y.bin. Put your own code into mine, ${start}.`];
  return { file, command, text: text(types[p.width], p.width > 16 ? "" : codec(types[p.width], p), f, says, p) };
}
