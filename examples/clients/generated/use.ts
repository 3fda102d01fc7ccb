// A look-up, batches and an upload with the types that openapi-typescript makes, in `gelu.d.ts`, and openapi-fetch.
import createClient from "openapi-fetch";
import type { paths } from "./gelu.js";

declare const process: { argv: string[] };
const client = createClient<paths>({ baseUrl: process.argv[2] });
const path = { function: "gelu", dtype: "float32" } as const;
const raw = {
  headers: { "Content-Type": "application/octet-stream" },
  bodySerializer: (body: unknown) => body as BodyInit,
  parseAs: "arrayBuffer",
} as const;
const bytes = (data: ArrayBufferView | ArrayBuffer) => data as unknown as string; // binary bodies have the type of text
const hex = (data: ArrayBuffer) => [...new Uint32Array(data)].map((bits) => "0x" + bits.toString(16).padStart(8, "0"));

const found = await client.GET("/v1/reference/{function}/{dtype}/{x}", { params: { path: { ...path, x: "-6.5" } } });
console.log("look-up", found.data!.y_bits, found.data!.kappa);

const x_bits = ["0x3f800000", "0xc0d00000"];
const batch = await client.POST("/v1/reference/{function}/{dtype}", { params: { path }, body: { x_bits } });
console.log("batch", ...batch.data!.y_bits);

const results = await client.POST("/v1/reference/{function}/{dtype}.bin", {
  params: { path },
  body: bytes(new Uint32Array([0x3f800000, 0xc0d00000])),
  ...raw,
});
console.log("raw", ...hex(results.data!));

const inputs = await client.GET("/v1/inputs/{plan}/{dtype}.bin", {
  params: { path: { plan: "landmarks", dtype: "float16" } },
  parseAs: "arrayBuffer",
});
const outputs = await client.POST("/v1/reference/{function}/{dtype}.bin", {
  params: { path: { function: "gelu", dtype: "float16" } },
  body: bytes(inputs.data!),
  ...raw,
});
const job = await client.POST("/v1/verify", {
  params: { query: { function: "gelu", dtype: "float16", plan: "landmarks" }, header: { prefer: "wait=20" } },
  body: bytes(outputs.data!),
  headers: raw.headers,
  bodySerializer: raw.bodySerializer,
});
console.log("upload", job.data!.grade);

const wrong = await client.GET("/v1/reference/{function}/{dtype}/{x}", { params: { path: { ...path, x: "one" } } });
console.log("error", wrong.error!.status);
