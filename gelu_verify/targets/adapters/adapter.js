// A function of JavaScript as a target: gelu-verify run "pipe:node adapter.js 'x.map(Math.tanh)'" (docs/targets.md).
// x is a Float32Array or Float64Array of inputs, and so is g or b of a function of two inputs; the expression gives one
// of as many outputs, or a promise of one. `require` finds what the working folder has.
"use strict";
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

process.on("uncaughtException", (error) => {
  console.error(String(error)); // in one line
  process.exit(1);
});
const Values = { float32: Float32Array, float64: Float64Array }[process.env.GELU_VERIFY_DTYPE];
if (!Values) throw new Error("float32 and float64 only");
const second = process.env.GELU_VERIFY_SECOND_INPUT; // its name
const f = new Function("require", "x", second || "_", `return (${process.argv[2]})`);
const required = createRequire(path.resolve("adapter.js"));
console.log = console.info = console.error; // stdout is for answers

/** Exactly `size` bytes of stdin; null where it ends. */
function read(size) {
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const got = fs.readSync(0, buffer, at, size - at, null);
    if (got === 0) return null;
    at += got;
  }
  return buffer;
}

async function serve() {
  for (let head; (head = read(8)); ) {
    const inputs = new Values(read(Number(head.readBigUInt64LE()) * Values.BYTES_PER_ELEMENT).buffer);
    const n = second ? inputs.length / 2 : inputs.length;
    const y = await f(required, inputs.slice(0, n), inputs.slice(n));
    if (!(y instanceof Values) || y.length !== n) {
      throw new Error(`the result is ${y?.constructor.name} of ${y?.length}, not ${Values.name} of ${n}`);
    }
    head.writeBigUInt64LE(BigInt(n));
    const answer = Buffer.concat([head, Buffer.from(y.buffer, y.byteOffset, y.byteLength)]);
    for (let at = 0; at < answer.length; ) at += fs.writeSync(1, answer, at);
  }
}

serve();
