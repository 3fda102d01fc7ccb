// A GELU as a program: frames of bits on stdin, answers on stdout (docs/targets.md). node gelu_sigmoid.js
"use strict";
const fs = require("fs");

const quickGelu = (x) => x / (1 + Math.exp(-1.702 * x));

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

function write(buffer) {
  for (let at = 0; at < buffer.length; ) at += fs.writeSync(1, buffer, at);
}

const Values = { float32: Float32Array, float64: Float64Array }[process.env.GELU_VERIFY_DTYPE];
if (!Values) {
  console.error("float32 and float64 only");
  process.exit(2);
}
for (let head; (head = read(8)); ) {
  const n = Number(head.readBigUInt64LE());
  const frame = read(n * Values.BYTES_PER_ELEMENT);
  const y = new Values(frame.buffer, frame.byteOffset, n).map(quickGelu);
  write(Buffer.concat([head, Buffer.from(y.buffer)]));
}
