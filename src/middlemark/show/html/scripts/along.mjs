// Lines along a numeric factor (message size, subscribers, depth, rate): a line for each series, a panel for each experiment.
import * as Plot from "@observablehq/plot";
import { experimentOf, levelName, lineName } from "./labels.mjs";
import { NARROW, SCALES, differing, fitted, logAxis, plotted, sizeAxis, stacked, tip, widthOf } from "./style.mjs";
import { bytes, rate, text, time } from "./words.mjs";

const MOST_BANDS = 12; // more intervals would hide each other
const MOST_NAMES = 16; // more names do not fit at the ends of the lines
const CROWD = 40; // more lines cannot be distinguished
const MOST_PANELS = 6;
const BELOW = 46; // pixels for the axis

// metrics: [{key, name (of the CSV), title, scale, value(cell), low?(cell), high?(cell)}].
// together: keys of the metrics that are drawn side by side as one choice.
// first: the factor of the axis by default, if a line has several levels of it; else the size.
export function along({ id, title, says, metrics, together, first = "size", only = () => true }) {
  const chosen = (context) => {
    const key = context.option("figure");
    return key === "together"
      ? metrics.filter((each) => together.includes(each.key))
      : metrics.filter((each) => each.key === key);
  };
  const isMeasured = (cell) => only(cell) && metrics.some((each) => each.value(cell) > 0);
  const known = new WeakMap();
  const axes = (data) => {
    if (!known.has(data)) known.set(data, axesOf(data, isMeasured));
    return known.get(data);
  };
  const usualAxis = (data) => {
    const names = axes(data).map(([name]) => name);
    return [first, "size"].find((each) => names.includes(each)) ?? names[0];
  };
  return {
    id,
    title,
    says,
    has: (data) => axes(data).length > 0,
    lacks: (data) =>
      data.cells.some(isMeasured)
        ? "a line needs several sizes, rates or other numbers, and this run has one"
        : "not measured",
    options: (context) => [
      {
        key: "figure",
        label: "Figure",
        values: [
          ...(together ? [["together", together.join(", ")]] : []),
          ...metrics.map((each) => [each.key, each.title]),
        ],
        initial: together && isWorthPanels(context.cells.filter(only), metrics, together) ? "together" : metrics[0].key,
      },
      { key: "along", label: "Along", values: axes(context.data), initial: usualAxis(context.data) },
      {
        key: "panels",
        label: "Panels by",
        values: panelChoices(context, context.option("along") ?? usualAxis(context.data)),
        initial: usualPanels(context),
      },
    ],
    rows(context) {
      const axis = context.option("along");
      const panels = context.data.factors.find((each) => each.name === context.option("panels"));
      const isByExperiment = context.option("panels") === EXPERIMENT;
      const shown = chosen(context);
      const rows = withBaselineLine(
        context,
        shown[0],
        context.cells
          .filter(
            (cell) =>
              only(cell) &&
              !cell.failed &&
              cell.f[axis] > 0 &&
              typeof cell.f[axis] === "number" &&
              shown.some((each) => each.value(cell) > 0),
          )
          .map((cell) => ({
            cell,
            label: cell.label,
            line: lineName(cell, context.data.factors, axis),
            along: cell.f[axis],
            panel: isByExperiment
              ? experimentOf(cell, context.data)
              : panels
                ? `${panels.label}: ${levelName(panels, cell.f[panels.name])}`
                : "",
            trials: cell.trials,
            warnings: cell.warnings?.length ?? 0,
            ...Object.fromEntries(metrics.flatMap((each) => [[each.name, each.value(cell)], ...bounds(each, cell)])),
          })),
      );
      // A single point shows no slope.
      const kept = rows.filter((row) => rows.some((each) => each.line === row.line && each.along !== row.along));
      const columns = [
        { name: "label", title: "what" },
        { name: "along", title: nameOfAxis(context.data, axis), show: shownAlong(context.data, axis) },
        ...metrics.flatMap((each) => [
          { name: each.name, title: each.title, show: SCALES[each.scale].show },
          ...(each.low
            ? [
                { name: `${each.name}_low`, title: "from (95 %)", show: SCALES[each.scale].show },
                { name: `${each.name}_high`, title: "to", show: SCALES[each.scale].show },
              ]
            : []),
        ]),
        { name: "trials", title: "trials" },
        { name: "warnings", title: "warnings" },
      ];
      return { rows: kept, columns };
    },
    draw: (rows, context, width) => lines(rows, chosen(context), { along: context.option("along"), width, context }),
  };
}

// The factors along which a line of the measured cells has several points.
function axesOf(data, isMeasured) {
  const found = data.factors.filter(({ name, levels }) => {
    if (levels.filter((level) => typeof level === "number" && level > 0).length < 2) return false;
    const lines = new Map();
    for (const cell of data.cells.filter((each) => !each.failed && each.f[name] > 0 && isMeasured(each))) {
      const line = lineName(cell, data.factors, name);
      lines.set(line, (lines.get(line) ?? new Set()).add(cell.f[name]));
    }
    return [...lines.values()].some((each) => each.size > 1);
  });
  return found.map((each) => [each.name, each.label]);
}

const nameOfAxis = (data, axis) =>
  axis === "size" ? "message size" : (data.factors.find((each) => each.name === axis)?.label ?? axis);

function shownAlong(data, axis) {
  const unit = data.factors.find((each) => each.name === axis)?.unit;
  if (axis === "size" || unit === "bytes") return bytes;
  return axis === "rate" ? rate : unit === "s" ? (seconds) => time(seconds * 1e9) : text;
}

// The metrics that are drawn together if there is room; rare percentiles only if most cells have them.
const isWorthPanels = (cells, metrics, together) =>
  cells.length <= 200 &&
  metrics
    .filter((each) => together.includes(each.key))
    .every((each) => cells.filter((cell) => each.value(cell) > 0).length * 2 >= cells.length);

const bounds = (metric, cell) =>
  metric.low
    ? [
        [`${metric.name}_low`, metric.low(cell)],
        [`${metric.name}_high`, metric.high(cell)],
      ]
    : [];

const EXPERIMENT = "experiment";

const panelChoices = (context, axis) => [
  ["", "nothing"],
  ...(context.data.experiment.length > 1 ? [[EXPERIMENT, "experiment"]] : []),
  ...context.data.factors
    .filter((each) => each.name !== axis && each.levels.length > 1 && each.levels.length <= 6)
    .map((each) => [each.name, each.label]),
];

// Polling and blocking, calls and streams are different experiments, with a panel each unless the reader chooses otherwise.
function usualPanels({ data, cells }) {
  const several = (of) => new Set(cells.map(of)).size;
  const panels = data.experiment.length > 1 ? several((each) => experimentOf(each, data)) : 0;
  if (panels > 1 && panels <= MOST_PANELS) return EXPERIMENT;
  return (
    ["receive", "pattern", "processes"].find(
      (name) =>
        data.factors.some((each) => each.name === name && each.levels.length <= 6) && several((each) => each.f[name]) > 1,
    ) ?? ""
  );
}

// Returns the baseline as one line: the fastest raw transport at each point.
function withBaselineLine(context, metric, rows) {
  if (!context.isBest()) return rows;
  const isHigher = metric.scale === "rate" || metric.scale === "bytesRate";
  const best = new Map();
  for (const row of rows.filter((each) => each.cell.is_raw_transport && each[metric.name] > 0)) {
    const key = `${row.panel} ${row.along}`;
    const known = best.get(key);
    if (!known || (isHigher ? row[metric.name] > known[metric.name] : row[metric.name] < known[metric.name]))
      best.set(key, { ...row, line: "baseline" });
  }
  return [...best.values(), ...rows.filter((each) => !each.cell.is_raw_transport)];
}

export function lines(rows, chosen, { along, width, context, height }) {
  const metrics = chosen.filter((metric) => rows.some((row) => row[metric.name] > 0));
  const empty = chosen.filter((metric) => !metrics.includes(metric)).map((metric) => metric.title);
  if (metrics.length === 0) return null;
  const [short, shared] = differing(rows.filter((row) => !row.cell.is_raw_transport).map((row) => row.line));
  const within = new Map(
    [...grouped(rows, (row) => row.panel)].map(([name, members]) => [
      name,
      differing(members.filter((row) => !row.cell.is_raw_transport).map((row) => row.line))[0],
    ]),
  );
  const points = metrics.flatMap((metric) =>
    rows
      .filter((row) => row[metric.name] > 0)
      .map((row) => ({
        ...row,
        line: short(row.line),
        name: within.get(row.panel)(row.line),
        value: row[metric.name],
        low: row[`${metric.name}_low`],
        high: row[`${metric.name}_high`],
        metric: metric.title,
        style: context.styles.of(row.cell.series),
      })),
  );
  const across = metrics.length > 1 && width >= NARROW;
  const isOnlyPanel = new Set(points.map((each) => each.panel)).size < 2;
  const named = (point) =>
    [across || metrics.length === 1 ? "" : point.metric, isOnlyPanel ? "" : point.panel].filter(Boolean).join(" · ");
  const panels = grouped(points, named);
  const series = [...new Map(points.map((each) => [each.line, each]))].map(([name, each]) => ({ name, ...each.style }));
  const isCrowded = series.length > CROWD;
  const beside = width >= NARROW && !across && series.length <= MOST_NAMES && series.length > 1;
  const look = {
    along,
    data: context.data,
    width,
    metrics,
    across,
    isCrowded,
    beside,
    room: beside ? Math.min(width * 0.36, Math.max(...points.map((each) => widthOf(each.name))) + 14) : 14,
    isBanded: series.length <= MOST_BANDS,
  };
  const high = height ?? (panels.size > 1 ? 270 : 360);
  // Each panel has its own axis, because polling takes a tenth of the time of blocking.
  const isFlat = (members) => panels.size > 1 && new Set(members.map((each) => each.along)).size === 1;
  const drawings = [...panels].map(([name, members]) =>
    panel(name, members, { ...look, high: isFlat(members) ? 190 : high }),
  );
  const notes = isCrowded ? [`${series.length} lines: point at one to read its name, or filter above.`] : [];
  if (shared) notes.push(`All of them: ${shared}.`);
  if (panels.size > 1) notes.push("Each panel has an axis of its own.");
  if (empty.length) notes.push(`Not drawn, because no selected configuration has these figures: ${empty.join(", ")}.`);
  if (!look.isBanded && points.some((each) => each.low > 0))
    notes.push("Intervals are drawn for up to 12 lines; the table has all.");
  return { svg: stacked(drawings, width), legend: isCrowded ? context.styles.adapters() : beside ? [] : series, notes };
}

function grouped(points, of) {
  const found = new Map();
  for (const each of points) found.set(of(each), [...(found.get(of(each)) ?? []), each]);
  return found;
}

function panel(name, points, { along, data, width, metrics, across, isCrowded, beside, room, isBanded, high }) {
  const scale = SCALES[metrics[0].scale];
  const values = points.flatMap((each) => [each.value, each.low, each.high]).filter((each) => each > 0);
  const y = logAxis(values, scale.show, null, { most: 9, binary: scale.binary });
  const inner = (width - 64 - room) / (across ? metrics.length : 1);
  const measured = points.map((each) => each.along);
  const x = sizeAxis(measured, inner, nameOfAxis(data, along), shownAlong(data, along));
  const facets = across ? { fx: "metric" } : {};
  const common = { x: "along", stroke: (each) => each.style.colour, ...facets };
  const bands = isBanded ? points.filter((each) => each.low > 0 && each.high > 0) : [];
  const order = (a, b) => a.along - b.along;
  points.sort(order);
  bands.sort(order);
  const marginTop = name || across ? 34 : 16;
  const frame = { width, height: high, marginLeft: 64, marginRight: room, marginTop, marginBottom: BELOW };
  return plotted(
    frame,
    { x, y, fx: { label: null, axis: "top", domain: metrics.map((each) => each.title), padding: 0.06 } },
    [
      Plot.areaY(bands, {
        x: "along",
        y1: "low",
        y2: "high",
        z: "line",
        fill: (each) => each.style.colour,
        fillOpacity: 0.16,
        ...facets,
      }),
      Plot.line(
        points.filter((each) => each.cell.is_raw_transport),
        { ...common, y: "value", z: "line", strokeDasharray: "5 4", strokeWidth: 1.5 },
      ),
      Plot.line(
        points.filter((each) => !each.cell.is_raw_transport),
        { ...common, y: "value", z: "line", strokeWidth: isCrowded ? 1 : 1.8, strokeOpacity: isCrowded ? 0.6 : 1 },
      ),
      Plot.dot(points, {
        x: "along",
        y: "value",
        fill: (each) => each.style.colour,
        symbol: (each) => each.style.symbol,
        r: isCrowded ? 2.2 : 3.4,
        ...facets,
      }),
      name
        ? Plot.text([name], {
            ...(across ? { fx: () => metrics[0].title } : {}),
            text: (each) => each,
            frameAnchor: "top-left",
            dx: across ? -60 : 6,
            dy: across ? -28 : -14,
            fontWeight: 600,
          })
        : null,
      beside ? names(points, y.scale.domain, { pixels: high - marginTop - BELOW, room }) : null,
      tip({
        data: points,
        at: { x: "along", y: "value", ...facets },
        title: (each) => {
          const interval = each.low ? `\n95 %: ${scale.show(each.low)} to ${scale.show(each.high)}` : "";
          return `${each.label}\n${each.metric}: ${scale.show(each.value)}${interval}`;
        },
      }),
    ],
  );
}

// The name of each line at its right end; overlapping names are moved apart.
function names(points, [low, high], { pixels, room }) {
  const here = [...new Map(points.map((each) => [each.line, each])).values()];
  const most = Math.max(...here.map((each) => each.along));
  const at = (value) => (Math.log(high / value) / Math.log(high / low)) * pixels;
  const sorted = here.sort((a, b) => b.value - a.value).map((each) => ({ ...each, pixel: at(each.value) }));
  sorted.forEach((each, index) => {
    each.pixel = Math.max(each.pixel, index ? sorted[index - 1].pixel + 13 : 0);
  });
  for (let index = sorted.length - 1, limit = pixels; index >= 0; index--, limit -= 13) {
    sorted[index].pixel = Math.min(
      sorted[index].pixel,
      limit,
      index < sorted.length - 1 ? sorted[index + 1].pixel - 13 : Infinity,
    );
  }
  const ends = sorted.map((each) => ({ ...each, along: most, value: high * (low / high) ** (each.pixel / pixels) }));
  return Plot.text(ends, {
    x: "along",
    y: "value",
    text: (each) => fitted(each.name, room - 12),
    fill: (each) => each.style.colour,
    textAnchor: "start",
    dx: 10,
  });
}
