// The distributions of the trials: of the chosen experiment each trial as a line, and a percentile curve in the style of
// HdrHistogram for any selection.
import * as Plot from "@observablehq/plot";
import { chosen } from "./answer.mjs";
import { nameOf } from "./labels.mjs";
import { atOneSize, ofOneSize } from "./ranges.mjs";
import { NARROW, logAxis, plotted, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { time } from "./words.mjs";

const MOST = 8;
const has = (cell) => cell.curve?.length > 1;
const MARKS = { 50: "circle", 99: "triangle" };

const COLUMNS = columnsOf(
  ["label", "what"],
  ["percentile", "percentile", (value) => (value === 100 ? "100 (maximum)" : String(value))],
  ["ns", "latency", time],
);

const legend = (rows, context) => {
  const cells = new Map(rows.map((row) => [row.cell.i, row]));
  return [...cells.values()].map((row) => ({ name: row.label, ...context.styles.of(row.cell.series) }));
};

// The line of each trial; a trial without a number is the one whose figure is the median of its row.
export const ecdf = {
  id: "distribution-of-trials",
  title: "Every trial of the experiment above",
  says:
    "For each time, the share of the messages that took no longer. A thin line is a trial, the thick line the trial with " +
    "the median figure; ● its p50, ▲ its p99. A steep line means steady latency, two steps mean bimodal latency.",
  isChosen: true,
  has: (data) => data.cells.some(has),
  lacks: () => "no samples are kept",
  rows(context) {
    const cells = chosen(context).filter(({ cell }) => has(cell));
    const drawn = cells.length > MOST ? [...cells.slice(0, MOST - 1), cells.at(-1)] : cells;
    const rows = drawn.flatMap(({ cell, name }) => [
      ...(cell.trial_curves ?? []).flatMap((curve, trial) =>
        curve.map(([percentile, ns]) => ({ cell, label: name, trial: trial + 1, percentile, ns })),
      ),
      ...cell.curve.map(([percentile, ns]) => ({ cell, label: name, trial: "median", percentile, ns })),
    ]);
    const notes = cells.length > MOST ? [`${MOST} of ${cells.length} rows are drawn.`] : [];
    return { rows, columns: [COLUMNS[0], { name: "trial", title: "trial" }, ...COLUMNS.slice(1)], notes };
  },
  draw(rows, context, width) {
    const points = rows.map((row) => ({
      ...row,
      style: context.styles.of(row.cell.series),
      line: `${row.cell.i} ${row.trial}`,
    }));
    const median = points.filter((each) => each.trial === "median");
    const cells = [...new Map(rows.map((row) => [row.cell.i, row.cell])).values()];
    const gap = Math.max(0, ...cells.map((each) => each.noise?.longest_gap_ns ?? 0));
    const x = logAxis([...points.map((each) => each.ns), gap], time, null, { most: Math.floor(width / 70) });
    const at = { x: "ns", y: "percentile", z: "line", stroke: (each) => each.style.colour };
    const marks = median.filter((each) => MARKS[each.percentile]);
    const frame = { width, height: width < NARROW ? 280 : 340, marginLeft: 54, marginRight: 20, marginTop: 26 };
    const y = { domain: [0, 100], tickFormat: (value) => `${value} %`, grid: true, label: null, ticks: 5 };
    const lines = (all, isRaw, more) =>
      Plot.line(
        all.filter((each) => Boolean(each.cell.is_raw_transport) === isRaw),
        { ...at, ...more, strokeDasharray: isRaw ? "5 4" : undefined },
      );
    const svg = plotted(frame, { x, y }, [
      ...(gap
        ? [
            Plot.ruleX([gap], { stroke: "var(--ink)", strokeDasharray: "2 3" }),
            Plot.text([gap], {
              x: (each) => each,
              frameAnchor: "top",
              dy: -14,
              text: () => `longest gap of the machine: ${time(gap)}`,
              textAnchor: gap > 3 * Math.min(...points.map((each) => each.ns)) ? "end" : "start",
              fill: "var(--ink)",
            }),
          ]
        : []),
      ...[true, false].flatMap((isRaw) => [
        lines(
          points.filter((each) => each.trial !== "median"),
          isRaw,
          { strokeWidth: 1, strokeOpacity: 0.45 },
        ),
        lines(median, isRaw, { strokeWidth: 2.4 }),
      ]),
      Plot.dot(marks, {
        x: "ns",
        y: "percentile",
        fill: (each) => each.style.colour,
        stroke: "var(--surface)",
        symbol: (each) => MARKS[each.percentile],
        r: 5,
      }),
      tip({
        data: median,
        at: { x: "ns", y: "percentile" },
        title: (each) => `${each.label}\n${each.percentile} % within ${time(each.ns)}`,
      }),
    ]);
    return { svg, legend: legend(rows, context) };
  },
};

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
    "times rarer. A flat line is predictable; a line that rises only at its end shows stalls. The last point is the " +
    "slowest message.",
  has: (data) => data.cells.some(has),
  lacks: () => "no samples are kept",
  options: (context) => atOneSize(context, has),
  rows(context) {
    const cells = ofOneSize(context, has).sort((a, b) => (a.latency?.p50 ?? 0) - (b.latency?.p50 ?? 0));
    const rows = cells
      .slice(0, MOST)
      .flatMap((cell) =>
        cell.curve.map(([percentile, ns]) => ({ cell, label: nameOf(cell, context, "size"), percentile, ns })),
      );
    const notes =
      cells.length > MOST ? [`The ${MOST} fastest of ${cells.length} are shown; filter above to see others.`] : [];
    return { rows, columns: COLUMNS, notes };
  },
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
    const lines = (isRawTransport) =>
      Plot.line(
        points.filter((each) => Boolean(each.cell.is_raw_transport) === isRawTransport),
        {
          x: "x",
          y: "ns",
          z: (each) => each.cell.i,
          stroke: (each) => each.style.colour,
          strokeWidth: 1.8,
          strokeDasharray: isRawTransport ? "5 4" : undefined,
        },
      );
    const svg = plotted(frame, { x, y }, [
      lines(false),
      lines(true),
      Plot.dot(points, { x: "x", y: "ns", fill: (each) => each.style.colour, symbol: (each) => each.style.symbol, r: 2.6 }),
      tip({ data: points, at: { x: "x", y: "ns" }, title: (each) => `${each.label}\n${time(each.ns)}` }),
    ]);
    return { svg, legend: legend(rows, context) };
  },
};
