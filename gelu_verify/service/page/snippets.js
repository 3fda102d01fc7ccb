// Programs that read x.bin and write y.bin, in float32: put your GELU in the place of the one there.
export const snippets = {
  C: ["gelu.c", "cc -O2 gelu.c -o gelu -lm && ./gelu", `#include <math.h>
#include <stdio.h>

static float gelu(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); } /* yours */

int main(void) {
    FILE *in = fopen("x.bin", "rb"), *out = fopen("y.bin", "wb");
    for (float x; fread(&x, 4, 1, in) == 1;) {
        float y = gelu(x);
        fwrite(&y, 4, 1, out);
    }
    return fclose(in) | fclose(out);
}
`],
  "C++": ["gelu.cpp", "c++ -O2 gelu.cpp -o gelu && ./gelu", `#include <cmath>
#include <fstream>

static float gelu(float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); } // yours

int main() {
    std::ifstream in("x.bin", std::ios::binary);
    std::ofstream out("y.bin", std::ios::binary);
    for (float x; in.read(reinterpret_cast<char *>(&x), sizeof x);) {
        const float y = gelu(x);
        out.write(reinterpret_cast<const char *>(&y), sizeof y);
    }
}
`],
  Rust: ["gelu.rs", "rustc --edition 2021 -O gelu.rs && ./gelu", `fn gelu(x: f32) -> f32 {
    x / (1.0 + (-1.702 * x).exp()) // yours
}

fn main() -> std::io::Result<()> {
    let x = std::fs::read("x.bin")?;
    let y: Vec<u8> = x
        .chunks_exact(4)
        .flat_map(|b| gelu(f32::from_le_bytes(b.try_into().unwrap())).to_le_bytes())
        .collect();
    std::fs::write("y.bin", y)
}
`],
  Go: ["gelu.go", "go run gelu.go", `package main

import (
	"encoding/binary"
	"math"
	"os"
)

func gelu(x float32) float32 { return x / 2 * float32(math.Erfc(-float64(x)/math.Sqrt2)) } // yours

func main() {
	data, err := os.ReadFile("x.bin")
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(data); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(gelu(x)))
	}
	if err := os.WriteFile("y.bin", data, 0o644); err != nil {
		panic(err)
	}
}
`],
  JavaScript: ["gelu.cjs", "node gelu.cjs", `const { readFileSync, writeFileSync } = require("node:fs");

const gelu = (x) => x / (1 + Math.exp(-1.702 * x)); // yours

const data = readFileSync("x.bin");
const x = new Float32Array(data.buffer, data.byteOffset, data.length / 4);
writeFileSync("y.bin", new Uint8Array(x.map(gelu).buffer));
`],
  Python: ["gelu.py", "python gelu.py", `import numpy as np


def gelu(x):  # yours
    return (x * np.float32(0.5) * (1 + np.tanh(np.float32(0.7978846) * (x + np.float32(0.044715) * x**3)))).astype("<f4")


with np.errstate(all="ignore"):
    gelu(np.fromfile("x.bin", "<f4")).tofile("y.bin")
`],
  Julia: ["gelu.jl", "julia gelu.jl", `gelu(x) = x / (1 + exp(-1.702f0 * x)) # yours

x = reinterpret(Float32, read("x.bin"))
write("y.bin", gelu.(x))
`],
};
