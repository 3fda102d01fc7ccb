// Decimals and rounding modes as the page shows them.

export const ROUNDED = { nearest: "correctly rounded", up: "rounded up", down: "rounded down", zero: "rounded towards zero", odd: "rounded to odd" };

export const trimmed = (text) => (text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text.replace(/\.?0+e/, "e"));

// Twenty digits are enough to tell any two numbers of a dtype apart.
export function brief(text) {
  const [significand, exponent] = text.split("e");
  const cut = trimmed(significand.replace("-", "").length > 22 ? significand.slice(0, 22) : significand);
  return exponent ? `${cut}e${exponent}` : cut;
}
