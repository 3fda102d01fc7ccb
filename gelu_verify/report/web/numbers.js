/* Numbers as a reader sees them, and values of bits in every dtype. */
const MINUS = "−", SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹", NONE = "–";
const raised = k => [...String(k)].map(d => d === "-" ? "⁻" : SUPERSCRIPT[+d]).join("");
const power = k => k >= -4 && k <= 10 ? String(2 ** k) : `2${raised(k)}`;
const signed = text => String(text).replace(/^-|(?<=e)-/g, MINUS);
const typographic = text => String(text).replace(/(?<=\de)(?:\+|(-))0*(?=\d)/g, "$1").replace(/<=/g, "≤").replace(/>=/g, "≥").replace(/(?<![\w.)])-(?=[\d.]|inf)|(?<=\de)-(?=\d)/g, MINUS).replace(/(?<=[+−])inf\b/g, "∞");
const short = value => {
  const text = String(value), size = Math.abs(Number(value));
  const isLong = size >= 1e6 || size && size < 1e-4;
  return (isLong && !text.includes("e") ? Number(value).toExponential() : text).replace("e+", "e");
};
/* an error, rounded so that the statement stays true: "=" up, ">=" down */
const rounded = (value, digits, up) => {
  if (!Number.isFinite(value) || value === 0) return value;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  const exact = value / unit, whole = Math.round(exact);
  return (Math.abs(exact - whole) < 1e-9 ? whole : up ? Math.ceil(exact) : Math.floor(exact)) * unit;
};
const ulp = (value, bound = "=", digits = 3) => {
  if (value === null || value === undefined) return NONE;
  if (!Number.isFinite(value)) return "∞";
  const kept = rounded(value, digits, bound !== ">=");
  if (kept === 0) return "0";
  return kept >= 1e4 ? short(kept.toExponential(digits - 1)) : kept >= 100 ? kept.toFixed(0) : kept >= 0.01 ? kept.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(kept) + 1e-12))).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") : short(kept.toExponential(1));
};
const sign = bound => bound === ">=" ? "≥" : bound || "";
const number = (value, digits = 3) => value === null || value === undefined ? NONE : signed(short(Number(value.toPrecision(digits))));
const plus = (value, digits = 3) => value === null || value === undefined ? NONE : (value > 0 ? "+" : "") + number(value, digits);
const count = value => value === null || value === undefined ? NONE : value.toLocaleString("en-US");
const share = value => value === null || value === undefined ? NONE : value >= 1 ? "100 %" : `${(Math.floor(value * 1e4) / 100).toFixed(2)} %`;
const rate = value => {
  if (!value) return NONE;
  for (const [limit, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (value >= limit) return `${(value / limit).toPrecision(3)} ${unit}/s`;
  return `${value.toFixed(0)} /s`;
};

/* ---- bits ---- */
const FIELDS = { float16: [16, 10], bfloat16: [16, 7], float32: [32, 23], float64: [64, 52], float8_e4m3fn: [8, 3], float8_e5m2: [8, 2] };
const valueOf = (dtype, bits) => {
  const [width, fraction] = FIELDS[dtype], whole = BigInt(bits), exponentBits = width - 1 - fraction;
  const negative = whole >> BigInt(width - 1) & 1n ? -1 : 1;
  const exponent = Number(whole >> BigInt(fraction) & (1n << BigInt(exponentBits)) - 1n), significand = Number(whole & (1n << BigInt(fraction)) - 1n);
  const bias = (1 << exponentBits - 1) - 1, last = (1 << exponentBits) - 1;
  if (dtype === "float8_e4m3fn" ? exponent === last && significand === 7 : exponent === last && significand) return NaN;
  if (exponent === last && dtype !== "float8_e4m3fn") return negative * Infinity;
  const scale = Math.max(exponent, 1) - bias - fraction, size = significand + (exponent ? 2 ** fraction : 0);
  return negative * (scale < -1000 ? size * 2 ** (scale + 100) * 2 ** -100 : size * 2 ** scale);
};
/* the shortest decimal that is nearer to the value than to its neighbours */
const decimal = (dtype, bits) => {
  const value = valueOf(dtype, bits);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  if (value === 0) return Object.is(value, -0) ? "−0" : "0";
  if (dtype === "float64") return signed(short(value));
  const fraction = FIELDS[dtype][1], spacing = 2 ** (Math.floor(Math.log2(Math.abs(value))) - fraction);
  for (let digits = 1; digits < 18; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.abs(candidate - value) < spacing / 4) return signed(short(candidate));
  }
  return signed(short(value));
};
const hexFloat = (dtype, bits) => {
  const value = valueOf(dtype, bits);
  if (!Number.isFinite(value) || value === 0) return "";
  const size = Math.abs(value);
  let exponent = Math.floor(Math.log2(size));
  if (2 ** exponent > size) exponent--;
  const scaled = exponent < -1000 ? size * 2 ** 600 / 2 ** (exponent + 600) : size / 2 ** exponent;
  const digits = BigInt(Math.round((scaled - 1) * 2 ** 52)).toString(16).padStart(13, "0").replace(/0+$/, "");
  return `${value < 0 ? MINUS : ""}0x1${digits ? `.${digits}` : ""}p${exponent < 0 ? MINUS : "+"}${Math.abs(exponent)}`;
};
