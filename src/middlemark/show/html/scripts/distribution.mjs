// The distribution of one trial, as a percentile curve in the style of HdrHistogram and as a cumulative distribution.
// The trial is the one whose p50 is the median of its cell.
import * as Plot from "@observablehq/plot";
import { nameOf } from "./labels.mjs";
import { atOneSize, ofOneSize } from "./ranges.mjs";
import { NARROW, logAxis, plotted, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { ABSENT, time } from "./words.mjs";

const MOST = 8;
const has = (cell) => cell.curve?.length > 1;

function rowsOf(context) {
  const cells = ofOneSize(context, has).sort((a, b) => (a.latency?.p50 ?? 0) - (b.latency?.p50 ?? 0));
  const drawn = cells.slice(0, MOST);
  const rows = drawn.flatMap((cell) =>
    cell.curve.map(([percentile, ns]) => ({ cell, label: nameOf(cell, context, "size"), percentile, ns })),
  );
  const columns = columnsOf(
    ["label", "what"],
    ["percentile", "percentile", (value) => (value === 100 ? "100 (maximum)" : String(value))],
    ["ns", "latency", time],
  );
  const notes = cells.length > MOST ? [`The ${MOST} fastest of ${cells.length} are shown; filter above to see others.`] : [];
  return { rows, columns, notes };
}

const legend = (rows, context) => {
  const cells = new Map(rows.map((row) => [row.cell.i, row]));
  return [...cells.values()].map((row) => ({ name: row.label, ...context.styles.of(row.cell.series) }));
};

// A mark for each kind of line, because a mark of Plot has the same dashes for all its lines.
const linesOf = (points, at) =>
  [false, true].map((isRawTransport) =>
    Plot.line(
      points.filter((each) => Boolean(each.cell.is_raw_transport) === isRawTransport),
      {
        ...at,
        z: (each) => each.cell.i,
        stroke: (each) => each.style.colour,
        strokeWidth: 1.8,
        strokeDasharray: isRawTransport ? "5 4" : undefined,
      },
    ),
  );

// Nines: 0 at p0, 1 at p90, 2 at p99. The maximum has infinitely many, and is drawn a third of a nine after the last percentile.
export function nines(curve) {
  const finite = curve
    .filter(([percentile]) => percentile < 100)
    .map(([percentile, ns]) => [-Math.log10(1 - percentile / 100), ns]);
  const last = curve.at(-1);
  return last[0] < 100 || finite.length === 0 ? finite : [...finite, [finite.at(-1)[0] + 1 / 3, last[1]]];
}

export const percentileCurve = {
  id: "percentile-curve",
  title: "Percentile curve",
  says:
    "Latency at each percentile, stretched towards the rare slow messages: every step to the right is ten " +
    "times rarer. A flat line is predictable; a line that climbs late has stalls. The last point is the " +
    "slowest message.",
  has: (data) => data.cells.some(has),
  options: (context) => atOneSize(context, has),
  rows: rowsOf,
  draw(rows, context, width) {
    const cells = new Map(rows.map((row) => [row.cell.i, row]));
    const points = [...cells.values()].flatMap((row) =>
      nines(row.cell.curve).map(([x, ns]) => ({ ...row, x, ns, style: context.styles.of(row.cell.series) })),
    );
    const most = Math.max(...points.map((each) => each.x));
    const ticks = [0, -Math.log10(0.5), 1, 2, 3, 4, 5, 6].filter((each) => each <= most);
    const y = logAxis(
      points.map((each) => each.ns),
      time,
      null,
      { most: 9 },
    );
    const frame = { width, height: 340, marginLeft: 64, marginRight: 20 };
    const x = {
      domain: [0, most * 1.02],
      ticks,
      tickFormat: (x) => (x === 0 ? "p0" : `p${Number((100 * (1 - 10 ** -x)).toPrecision(8))}`),
      label: null,
      grid: true,
    };
    const svg = plotted(frame, { x, y }, [
      ...linesOf(points, { x: "x", y: "ns" }),
      Plot.dot(points, { x: "x", y: "ns", fill: (each) => each.style.colour, symbol: (each) => each.style.symbol, r: 2.6 }),
      tip({ data: points, at: { x: "x", y: "ns" }, title: (each) => `${each.label}\n${time(each.ns)}` }),
    ]);
    return { svg, legend: legend(rows, context) };
  },
};

export const ecdf = {
  id: "ecdf",
  title: "Share of messages within a time",
  says:
    "The cumulative distribution (ECDF): for each time, how many of the messages took no longer. A steep line " +
    "means steady latency; two steps mean a bimodal distribution. Between the kept percentiles the line is " +
    "straight.",
  has: (data) => data.cells.some(has),
  options: (context) => atOneSize(context, has),
  rows: rowsOf,
  draw(rows, context, width) {
    const points = rows.map((row) => ({ ...row, style: context.styles.of(row.cell.series) }));
    const x = logAxis(
      points.map((each) => each.ns),
      time,
      null,
      { most: Math.floor(width / 70) },
    );
    const frame = { width, height: 320, marginLeft: 54, marginRight: 20 };
    const svg = plotted(
      frame,
      {
        x,
        y: { domain: [0, 100], tickFormat: (value) => `${value} %`, grid: true, label: null, ticks: width < NARROW ? 5 : 10 },
      },
      [
        ...linesOf(points, { x: "ns", y: "percentile" }),
        Plot.dot(points, {
          x: "ns",
          y: "percentile",
          fill: (each) => each.style.colour,
          symbol: (each) => each.style.symbol,
          r: 2.6,
        }),
        tip({
          data: points,
          at: { x: "ns", y: "percentile" },
          title: (each) => `${each.label}\n${each.percentile} % within ${time(each.ns) ?? ABSENT}`,
        }),
      ],
    );
    return { svg, legend: legend(rows, context) };
  },
};
