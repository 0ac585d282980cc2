// Cells side by side at one size: p50, p99 and p99.9 of each on one line, fastest first.
import * as Plot from "@observablehq/plot";
import { KINDS, experimentOf, nameOf } from "./labels.mjs";
import { SYMBOLS_OF, bands, differing, logAxis, plotted, roomFor, tip } from "./style.mjs";
import { bytes, plain, time } from "./words.mjs";

const MOST = 40;
const MARKS = Object.entries(SYMBOLS_OF);

// The options of figures for one size: the size, and the kind of latency.
export function atOneSize(context, has) {
  const cells = context.cells.filter((cell) => !cell.failed && has(cell));
  const kinds = [...new Set(cells.map((each) => each.kind))];
  const sizes = [...new Set(cells.map((each) => each.f.size))].sort((a, b) => a - b);
  const usual = usualSize(context.data);
  return [
    { key: "kind", label: "Latency", values: kinds.map((kind) => [kind, KINDS[kind] ?? kind]), initial: kinds[0] },
    {
      key: "size",
      label: "At",
      values: sizes.map((size) => [String(size), bytes(size)]),
      initial: String(sizes.includes(usual) ? usual : sizes[Math.floor((sizes.length - 1) / 2)]),
    },
  ];
}

// The initial size of all figures, as on the first screen.
export function usualSize(data) {
  const sizes = [...new Set(data.cells.map((each) => each.f.size))].sort((a, b) => a - b);
  return data.standings[data.usual]?.size ?? sizes[Math.floor(sizes.length / 2)];
}

// Leaves out all raw transports except for the fastest of each experiment.
export function ofOneSize(context, has) {
  const cells = context.cells.filter(
    (cell) =>
      !cell.failed && has(cell) && String(cell.f.size) === context.option("size") && cell.kind === context.option("kind"),
  );
  if (!context.isBest()) return cells;
  const rawTransports = new Map();
  for (const cell of cells.filter((each) => each.is_raw_transport)) {
    const key = experimentOf(cell, context.data);
    if (!((rawTransports.get(key)?.latency?.p50 ?? Infinity) <= (cell.latency?.p50 ?? Infinity)))
      rawTransports.set(key, cell);
  }
  return cells.filter((each) => !each.is_raw_transport || [...rawTransports.values()].includes(each));
}

const has = (cell) => cell.latency?.p50 > 0;

export const ranges = {
  id: "latency-at-a-size",
  title: "Latency at one size",
  says:
    "Each line is a configuration, with its p50 (circle), p99 (triangle) and p99.9 (square), fastest first; " +
    "grey lines are raw transports. Left is better.",
  has: (data) => data.cells.some(has),
  lacks: () => "no latency was measured",
  options: (context) => atOneSize(context, has),
  rows(context) {
    const cells = ofOneSize(context, has).sort((a, b) => a.latency.p50 - b.latency.p50);
    const rows = cells.map((cell) => ({
      cell,
      label: nameOf(cell, context, "size"),
      ...Object.fromEntries(MARKS.map(([name]) => [`${name.replace(".", "_")}_ns`, cell.latency[name] ?? null])),
      max_ns: cell.latency.max ?? null,
      ratio: cell.ratio ?? null,
      baseline: context.data.cells[cell.baseline_cell]?.name ?? null,
      samples: cell.samples,
      warnings: cell.warnings?.length ?? 0,
    }));
    const columns = [
      { name: "label", title: "what" },
      ...["p50_ns", "p99_ns", "p99_9_ns", "max_ns"].map((name) => ({
        name,
        title: name.slice(0, -3).replace("9_9", "9.9"),
        show: time,
      })),
      { name: "ratio", title: "× baseline", show: plain },
      { name: "baseline", title: "baseline" },
      { name: "samples", title: "samples" },
      { name: "warnings", title: "warnings" },
    ];
    return {
      rows,
      columns,
      notes: rows.length > MOST ? [`The ${MOST} fastest of ${rows.length} are drawn; the table has all.`] : [],
    };
  },
  draw(rows, context, width) {
    const drawn = rows.slice(0, MOST);
    const [short, shared] = differing(drawn.filter((row) => !row.cell.is_raw_transport).map((row) => row.label));
    const points = drawn
      .flatMap((row) =>
        MARKS.map(([name, symbol]) => ({
          row,
          name,
          symbol,
          value: row[`${name.replace(".", "_")}_ns`],
          colour: context.styles.of(row.cell.series).colour,
        })),
      )
      .filter((each) => each.value > 0);
    const key = (row) => row.cell.i;
    const names = new Map(drawn.map((row) => [key(row), short(row.label)]));
    const room = roomFor([...names.values()], width);
    const x = logAxis(
      points.map((each) => each.value),
      time,
      null,
      { most: Math.max(3, Math.floor((width - room) / 60)) },
    );
    const frame = { width, height: drawn.length * 20 + 60, marginLeft: room, marginRight: 20 };
    const svg = plotted(frame, { x, y: bands(drawn.map(key), names, room) }, [
      Plot.ruleY(drawn, {
        y: key,
        x1: "p50_ns",
        x2: (row) => row.p99_9_ns ?? row.p99_ns ?? row.p50_ns,
        stroke: (row) => context.styles.of(row.cell.series).colour,
        strokeWidth: 2,
        strokeOpacity: 0.5,
      }),
      Plot.dot(points, { x: "value", y: (each) => key(each.row), fill: "colour", symbol: "symbol", r: 4 }),
      tip({
        data: points,
        at: { x: "value", y: (each) => key(each.row) },
        title: (each) => `${each.row.cell.label}\n${each.name}: ${time(each.value)}`,
      }),
    ]);
    return {
      svg,
      legend: MARKS.map(([name, symbol]) => ({ name, symbol, colour: "var(--ink)" })),
      notes: shared ? [`All of them: ${shared}.`] : [],
    };
  },
};
