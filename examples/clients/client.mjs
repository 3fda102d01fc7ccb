// Fetch inputs, run a GELU, post the results, print the grade.   node client.mjs http://127.0.0.1:8000
const server = process.argv[2].replace(/\/$/, "");
const where = "function=gelu_tanh&seed=0";

// The function under test: computed in double, rounded to float32 by the array.
const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

const inputs = await fetch(`${server}/v1/inputs/quick/float32.bin?${where}`);
const x = new Float32Array(await inputs.arrayBuffer()); // little-endian, as every browser and node is
const y = x.map(geluTanh);

const answer = await fetch(`${server}/v1/verify?${where}&plan=quick&dtype=float32&name=javascript`, {
  method: "POST",
  headers: { "Content-Type": "application/octet-stream", Prefer: "wait=20" },
  body: y.buffer,
});
const job = await answer.json();
if (!answer.ok) throw new Error(job.detail);
console.log(job.grade, job.headline);
