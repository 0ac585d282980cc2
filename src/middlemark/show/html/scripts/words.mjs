// Writing figures, and reading those that a reader types. Times are in ns, sizes in bytes, rates in Hz; absent: a dash.

export const ABSENT = "–";

const short = (value) => {
  const size = Math.abs(value);
  if (size >= 1000 || value === 0) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
};

const scaled = (value, units) => {
  if (value === null || value === undefined || Number.isNaN(value)) return ABSENT;
  const [factor, unit] = units.find(([least]) => Math.abs(value) >= least * 0.9995) ?? units.at(-1);
  return `${short(value / factor)} ${unit}`.trim();
};

export const time = (ns) =>
  scaled(ns, [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ]);

// Writes digits as the sentences of the document do.
export const us = (ns) =>
  ns === null || ns === undefined
    ? ABSENT
    : `${ns < 99_950 ? (ns / 1e3).toPrecision(3) : Math.round(ns / 1e3).toLocaleString("en")} µs`;

export const times = (ratio) =>
  ratio === null || ratio === undefined
    ? ""
    : `${ratio < 9.995 ? ratio.toFixed(2) : ratio < 99.95 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en")} ×`;

export const bytes = (number) =>
  scaled(number, [
    [1 << 30, "GiB"],
    [1 << 20, "MiB"],
    [1 << 10, "KiB"],
    [1, "B"],
  ]);

export const rate = (hz) =>
  scaled(hz, [
    [1e9, "G/s"],
    [1e6, "M/s"],
    [1e3, "k/s"],
    [1, "/s"],
  ]);

export const bytesRate = (number) => (number === null || number === undefined ? ABSENT : `${bytes(number)}/s`);

export const plain = (value) => scaled(value, [[1, ""]]);

export const share = (part) => {
  if (part === null || part === undefined) return ABSENT;
  const percent = 100 * part;
  if (percent > 0 && percent < 0.001) return "<0.001 %";
  return `${Number(percent.toPrecision(percent > 99 ? 4 : 2))} %`;
};

export const signed = (part) =>
  part === null || part === undefined ? ABSENT : `${part > 0 ? "+" : part < 0 ? "−" : ""}${short(Math.abs(100 * part))} %`;

export const text = (value) => (value === null || value === undefined || value === "" ? ABSENT : String(value));

// Reads a typed quantity. Undefined: nothing typed; null: it cannot be read.
const quantity = (units) => (typed) => {
  const trimmed = typed.trim().replace(",", ".");
  if (trimmed === "") return undefined;
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*([^\d\s]*)$/.exec(trimmed) ?? [];
  const factor = units[(unit ?? "").toLowerCase().replace("μ", "µ")];
  return number === undefined || factor === undefined || Number(number) <= 0 ? null : Number(number) * factor;
};

const [k, m, g] = [1 << 10, 1 << 20, 1 << 30];
export const readSize = quantity({ "": 1, b: 1, k, kib: k, m, mib: m, g, gib: g });
export const readTime = quantity({ "": 1e3, ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }); // without a unit: µs
export const readRate = quantity({ "": 1, "/s": 1, hz: 1, k: 1e3, "k/s": 1e3, khz: 1e3, m: 1e6, "m/s": 1e6, mhz: 1e6 });
export const readNumber = quantity({ "": 1 });
