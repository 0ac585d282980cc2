// The look of a series, equal in every figure and under every filter: colour by adapter, symbol by its index, so that no
// information depends on colour only. The style sheet defines the colours for light, dark and paper.
import * as Plot from "@observablehq/plot";
import * as d3 from "d3";
import { bytes, bytesRate, plain, rate, share, time } from "./words.mjs";

const COLOURS = 20;
export const SYMBOLS_OF = { p50: "circle", p99: "triangle", "p99.9": "square" };
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"];

export class Styles {
  // leaders: the rows of the first ranking, whose colours are the most distinct.
  constructor(all, leaders = []) {
    const cells = [...leaders.map((row) => all[row]), ...all];
    const adapters = [...new Set(cells.filter((each) => !each.is_raw_transport).map((each) => each.f.adapter))];
    // With a single adapter, each series has its own colour.
    const coloured = adapters.length > 1 ? (cell) => cell.f.adapter : (cell) => cell.series;
    const colours = new Map();
    this.known = new Map();
    this.byColour = [{ name: "baseline", colour: "var(--raw-transport)", dash: "5 4" }];
    for (const cell of cells) {
      if (this.known.has(cell.series)) continue;
      const key = coloured(cell);
      if (!cell.is_raw_transport && !colours.has(key)) colours.set(key, colours.size % COLOURS);
      if (!cell.is_raw_transport && this.byColour.every((each) => each.name !== key))
        this.byColour.push({ name: key, colour: `var(--c${colours.get(key)})` });
      const colour = cell.is_raw_transport ? "var(--raw-transport)" : `var(--c${colours.get(key)})`;
      this.known.set(cell.series, {
        colour,
        symbol: SYMBOLS[this.known.size % SYMBOLS.length],
        dash: cell.is_raw_transport ? "5 4" : "",
      });
    }
  }

  // The colours by adapter.
  adapters() {
    return this.byColour;
  }

  of(series) {
    return this.known.get(series) ?? { colour: "var(--raw-transport)", symbol: "circle", dash: "" };
  }
}

export const NARROW = 620;

// Marks have colours as values; no scale maps them.
const AS_GIVEN = { color: { type: "identity" }, symbol: { type: "identity" } };

// A drawing: width, height, margins, marks and scales; `x` and `y` may be axes with their own marks.
export const plotted = (frame, { x, y, ...scales }, marks) =>
  Plot.plot({
    ...AS_GIVEN,
    ...frame,
    x: x.scale ?? x,
    y: y.scale ?? y,
    ...scales,
    marks: [...(x.marks?.("x") ?? []), ...(y.marks?.("y") ?? []), ...marks],
  });

// The scale of rows, one below the other, each with its name at the left if there is room.
export const bands = (domain, names, room) => ({
  type: "band",
  domain,
  label: null,
  tickSize: 0,
  tickFormat: (key) => fitted(names.get(key), room - 14),
});

const TIP = { fill: "var(--surface)", stroke: "var(--line)" };

// The tooltip of a mark; `title`: its text.
export const tip = (options) => Plot.tip(options.data, Plot.pointer({ ...TIP, ...options.at, title: options.title }));

export const SCALES = {
  time: { show: time },
  bytes: { show: bytes, binary: true },
  bytesRate: { show: bytesRate },
  rate: { show: rate },
  ratio: { show: plain },
  share: { show: share },
};

// Axes are {scale, marks(which)}, because Plot's logarithmic axis leaves out the names of ticks if D3 finds them too many.
const axis = (scale, ticks, show, label, grid) => ({
  scale: { ...scale, axis: null, label },
  marks: (which) => [
    grid ? (which === "x" ? Plot.gridX : Plot.gridY)(ticks) : null,
    (which === "x" ? Plot.axisX : Plot.axisY)(ticks, { text: (tick) => show(tick), label }),
  ],
});

// An axis with ticks at the measured values (sizes, numbers of subscribers), as far as there is room for their names.
export function sizeAxis(sizes, width, label = "message size", show = bytes) {
  const known = [...new Set(sizes)].sort((a, b) => a - b);
  const room = Math.max(2, Math.floor(width / 64));
  const step = Math.ceil(known.length / room);
  const ticks = known.filter((_, index) => index % step === 0);
  return axis({ type: "log", base: 2, domain: padded(known, 1.25) }, ticks, show, label, false);
}

// An axis with ticks at powers of ten and, if there are few, at two and five times them.
export function logAxis(values, show, label, options = {}) {
  const known = values.filter((each) => each > 0 && Number.isFinite(each));
  const [low, high] = known.length ? padded(known, 1.12) : [1, 10];
  const ticks = logTicks(low, high, options.binary ?? false);
  const kept = options.most ? thinned(ticks, options.most) : ticks;
  return axis({ type: "log", domain: options.domain ?? [low, high] }, kept, show, label, options.grid ?? true);
}

function logTicks(low, high, binary) {
  const base = binary ? 2 : 10;
  const decades = Math.log10(high / low);
  const steps = binary || decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks = [];
  for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= high; power++)
    for (const step of steps) {
      const tick = step * base ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  if (ticks.length > 2) return ticks;
  const unit = binary ? 1024 ** Math.floor(Math.log(low) / Math.log(1024)) : 1;
  return d3.ticks(low / unit, high / unit, 5).map((each) => each * unit);
}

const thinned = (ticks, most) => ticks.filter((_, index) => index % Math.ceil(ticks.length / most) === 0);

function padded(values, by) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return [low / by, high * by];
}

const LETTER = 6.4; // pixels, on the average

export const widthOf = (name) => name.length * LETTER;

// Returns names without the words that all of them share: [the shorter names, the shared words].
export function differing(names) {
  const split = (name) => {
    const [subject, ...rest] = name.split(" · ");
    return [subject, rest.flatMap((each) => each.split(", "))];
  };
  const parts = [...new Set(names)].map((each) => split(each)[1]);
  const shared = parts.length < 2 ? [] : parts[0].filter((part) => parts.every((each) => each.includes(part)));
  const short = (name) => {
    const [subject, rest] = split(name);
    return [subject, rest.filter((part) => !shared.includes(part)).join(", ")].filter(Boolean).join(" · ");
  };
  return [short, shared.join(", ")];
}

// Returns the name shortened in the middle to fit into the pixels: its ends distinguish it. The table has the full name.
export function fitted(name, pixels) {
  const most = Math.max(6, Math.floor(pixels / LETTER));
  const head = Math.ceil((most - 1) / 2);
  return name.length <= most ? name : `${name.slice(0, head)}…${name.slice(head + 1 - most)}`;
}

// The width for names at the left: that of the longest name, if enough remains for the figure.
export const roomFor = (names, width) => Math.min(width * 0.48, Math.max(60, ...names.map(widthOf)) + 16);

// Combines several drawings, one below the other, into one that can be saved.
export function stacked(drawings, width) {
  if (drawings.length === 1) return drawings[0];
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  let y = 0;
  for (const each of drawings) {
    const height = Number(each.getAttribute("height"));
    each.setAttribute("y", y);
    each.setAttribute("style", `width: ${width}px; height: ${height}px; overflow: visible`); // replaces Plot's
    y += height;
    whole.append(each);
  }
  for (const [name, value] of Object.entries({ width, height: y, viewBox: `0 0 ${width} ${y}` }))
    whole.setAttribute(name, value);
  return whole;
}
