// Quantities as people read them: three or four digits and the largest fitting unit.

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];
const TIMES: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : 2);
}

export function bytes(value: number): string {
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit + 1 < BYTES.length) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? value : digits(value)} ${BYTES[unit]}`;
}

export function time(nanoseconds: number): string {
  for (const [size, unit] of TIMES)
    if (Math.abs(nanoseconds) >= size) return `${digits(nanoseconds / size)} ${unit}`;
  return `${Math.round(nanoseconds)} ns`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
}

export function ratio(value: number): string {
  return `${value.toFixed(3)} ×`;
}

export function count(value: number): string {
  return value.toLocaleString("en").replace(/,/g, " ");
}

/** Round numbers between two values, about so many of them; in powers of two times 1, 2, 5 … for bytes. */
export function ticks(low: number, high: number, about: number, base = 1): number[] {
  const rough = (high - low) / Math.max(1, about) / base;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = base * power * ([1, 2, 5].find((nice) => nice * power >= rough) ?? 10);
  const result: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) result.push(value);
  return result;
}

/** The unit a range of bytes is best counted in. */
export function byteBase(high: number): number {
  let base = 1;
  while (high >= 1000 * base) base *= 1024;
  return base;
}

export function byteTicks(low: number, high: number, about: number): number[] {
  return ticks(low, high, about, byteBase(high));
}
