// Lines along a factor (the message size, the number of subscribers), one a series, in panels where experiments must not share one.
import * as Plot from "@observablehq/plot";
import { levelName, lineName } from "./labels.mjs";
import { AS_GIVEN, NARROW, SCALES, fitted, logAxis, sizeAxis, tip } from "./style.mjs";
import { bytes, text } from "./words.mjs";

const MOST_BANDS = 12; // more intervals than that hide each other
const MOST_NAMES = 16; // and more names than that do not fit beside the lines
const CROWD = 40; // lines that nobody tells apart
const GAP = 0.14; // between panels, of their distance
const BELOW = 46; // pixels for the axis

// metrics: [{key, name (of the CSV), title, scale, value(cell), low?(cell), high?(cell)}]; together: keys drawn side by side as one choice.
export function bySize({ id, title, says, metrics, together, along = "size", only = () => true }) {
  const chosen = (context) => {
    const key = context.option("figure");
    return key === "together" ? metrics.filter((each) => together.includes(each.key)) : metrics.filter((each) => each.key === key);
  };
  return {
    id,
    title,
    says,
    has: (data) => data.cells.some((cell) => only(cell) && metrics.some((each) => each.value(cell) > 0)),
    options: (context) => [
      { key: "figure", label: "Figure", values: [...(together ? [["together", together.join(", ")]] : []), ...metrics.map((each) => [each.key, each.title])], initial: together && isWorthPanels(context.cells.filter(only), metrics, together) ? "together" : metrics[0].key },
      { key: "panels", label: "Panels by", values: panelChoices(context, along), initial: usualPanels(context) },
    ],
    rows(context) {
      const panels = context.data.factors.find((each) => each.name === context.option("panels"));
      const shown = chosen(context);
      const rows = context.cells
        .filter((cell) => only(cell) && !cell.failed && typeof cell.f[along] === "number" && shown.some((each) => each.value(cell) > 0))
        .map((cell) => ({
          cell,
          label: cell.label,
          line: lineName(cell, context.data.factors, along),
          along: cell.f[along],
          panel: panels ? `${panels.label}: ${levelName(panels, cell.f[panels.name])}` : "",
          trials: cell.trials,
          warnings: cell.warnings?.length ?? 0,
          ...Object.fromEntries(metrics.flatMap((each) => [[each.name, each.value(cell)], ...bounds(each, cell)])),
        }));
      // A single point says nothing of a slope; along the size it is the only figure there is.
      const kept = along === "size" ? rows : rows.filter((row) => rows.some((each) => each.line === row.line && each.along !== row.along));
      const columns = [
        { name: "label", title: "what" },
        { name: "along", title: along, show: along === "size" ? bytes : text },
        ...metrics.flatMap((each) => [
          { name: each.name, title: each.title, show: SCALES[each.scale].show },
          ...(each.low ? [{ name: `${each.name}_low`, title: "from (95 %)", show: SCALES[each.scale].show }, { name: `${each.name}_high`, title: "to", show: SCALES[each.scale].show }] : []),
        ]),
        { name: "trials", title: "trials" },
        { name: "warnings", title: "warnings" },
      ];
      return { rows: kept, columns };
    },
    draw: (rows, context, width) => lines(rows, chosen(context), { along, width, context }),
  };
}

// Side by side they want room, and the rarer ones values: with few samples hardly a cell has a p99.
const isWorthPanels = (cells, metrics, together) =>
  cells.length <= 200 && metrics.filter((each) => together.includes(each.key)).every((each) => cells.filter((cell) => each.value(cell) > 0).length * 2 >= cells.length);

const bounds = (metric, cell) => (metric.low ? [[`${metric.name}_low`, metric.low(cell)], [`${metric.name}_high`, metric.high(cell)]] : []);

const panelChoices = (context, along) => [
  ["", "nothing"],
  ...context.data.factors.filter((each) => each.name !== along && each.levels.length > 1 && each.levels.length <= 6).map((each) => [each.name, each.label]),
];

// Polling and blocking, calls and streams are different experiments: they do not share a panel unless the reader wants it.
function usualPanels({ data, cells }) {
  const varies = (name) => new Set(cells.map((each) => each.f[name])).size > 1;
  return ["receive", "pattern"].find((name) => data.factors.some((each) => each.name === name && each.levels.length <= 6) && varies(name)) ?? "";
}

export function lines(rows, chosen, { along, width, context, height }) {
  const metrics = chosen.filter((metric) => rows.some((row) => row[metric.name] > 0));
  const empty = chosen.filter((metric) => !metrics.includes(metric)).map((metric) => metric.title);
  if (metrics.length === 0) return null;
  const scale = SCALES[metrics[0].scale];
  const wide = width >= NARROW;
  const points = metrics.flatMap((metric) =>
    rows.filter((row) => row[metric.name] > 0).map((row) => ({ ...row, value: row[metric.name], low: row[`${metric.name}_low`], high: row[`${metric.name}_high`], metric: metric.title, style: styleOf(row, context) })),
  );
  const across = metrics.length > 1 && wide;
  if (new Set(points.map((each) => each.panel)).size < 2) for (const each of points) each.panel = "";
  const named = (point) => (metrics.length > 1 && !across ? [point.metric, point.panel].filter(Boolean).join(" · ") : point.panel);
  const facets = across ? { fx: "metric" } : {};
  const panels = [...new Set(points.map(named))];
  if (panels.length > 1) facets.fy = named;

  const series = [...new Map(points.map((each) => [each.line, each]))].map(([name, each]) => ({ name, ...each.style, floor: each.cell.floor }));
  const isCrowded = series.length > CROWD;
  const beside = wide && !across && series.length <= MOST_NAMES && series.length > 1;
  const room = beside ? Math.min(230, width * 0.28) : 14;
  const high = height ?? (panels.length > 1 ? 250 : 340);
  const values = points.flatMap((each) => [each.value, each.low, each.high]).filter((each) => each > 0);
  const y = logAxis(values, scale.show, null, { most: 9, binary: scale.binary });
  const inner = (width - 64 - room) / (across ? metrics.length : 1);
  const measured = points.map((each) => each.along);
  const x = along === "size" ? sizeAxis(measured, inner) : sizeAxis(measured, inner, along, text);
  const common = { x: "along", stroke: (each) => each.style.colour, ...facets };
  const bands = series.length <= MOST_BANDS ? points.filter((each) => each.low > 0 && each.high > 0) : [];
  const order = (a, b) => a.along - b.along;
  points.sort(order);
  bands.sort(order);
  const tall = high * panels.length + 50;
  const marginTop = panels.length > 1 || across ? 34 : 16;
  const pixels = ((tall - marginTop - BELOW) / (panels.length - GAP)) * (1 - GAP); // of one panel: d3.scaleBand
  const svg = Plot.plot({
    ...AS_GIVEN,
    width,
    height: tall,
    marginLeft: 64,
    marginRight: room,
    marginTop,
    marginBottom: BELOW,
    x: x.scale,
    y: y.scale,
    fx: { label: null, axis: "top", domain: metrics.map((each) => each.title), padding: 0.06 },
    fy: { label: null, domain: panels, axis: null, padding: GAP },
    marks: [
      ...y.marks("y"),
      ...x.marks("x"),
      Plot.areaY(bands, { x: "along", y1: "low", y2: "high", z: "line", fill: (each) => each.style.colour, fillOpacity: 0.16, ...facets }),
      Plot.line(points.filter((each) => each.cell.floor), { ...common, y: "value", z: "line", strokeDasharray: "5 4", strokeWidth: 1.5 }),
      Plot.line(points.filter((each) => !each.cell.floor), { ...common, y: "value", z: "line", strokeWidth: isCrowded ? 1 : 1.8, strokeOpacity: isCrowded ? 0.6 : 1 }),
      Plot.dot(points, { x: "along", y: "value", fill: (each) => each.style.colour, symbol: (each) => each.style.symbol, r: isCrowded ? 2.2 : 3.4, ...facets }),
      panels.length > 1 ? Plot.text(panels.map((panel) => ({ panel, metric: metrics[0].title })), { fy: "panel", ...(across ? { fx: "metric" } : {}), text: "panel", frameAnchor: "top-left", dx: 6, dy: -14, fontWeight: 600 }) : null,
      beside ? names(points, named, facets.fy, y.scale.domain, { pixels, room }) : null,
      tip({ data: points, at: { x: "along", y: "value", ...facets }, title: (each) => `${each.label}\n${each.metric}: ${scale.show(each.value)}${each.low ? `\n95 %: ${scale.show(each.low)} to ${scale.show(each.high)}` : ""}` }),
    ],
  });
  const legend = isCrowded ? context.styles.adapters() : beside ? [] : series;
  const notes = isCrowded ? [`${series.length} lines: point at one to read its name, or filter above.`] : [];
  if (empty.length) notes.push(`Not drawn, since no configuration of this selection has it: ${empty.join(", ")}.`);
  if (series.length > MOST_BANDS && points.some((each) => each.low > 0)) notes.push("Intervals are drawn for up to 12 lines; the table has all.");
  return { svg, legend, notes };
}

function styleOf(row, context) {
  return context.styles.of(row.cell.series);
}

// The name of each line at its right end, moved apart where they would lie on each other.
function names(points, named, fy, [low, high], { pixels, room }) {
  const ends = [];
  for (const panel of new Set(points.map(named))) {
    const here = [...new Map(points.filter((each) => named(each) === panel).map((each) => [each.line, each])).values()];
    const most = Math.max(...here.map((each) => each.along));
    const at = (value) => (Math.log(high / value) / Math.log(high / low)) * pixels;
    const sorted = here.sort((a, b) => b.value - a.value).map((each) => ({ ...each, pixel: at(each.value) }));
    sorted.forEach((each, index) => { each.pixel = Math.max(each.pixel, index ? sorted[index - 1].pixel + 13 : 0); });
    for (let index = sorted.length - 1, limit = pixels; index >= 0; index--, limit -= 13) {
      sorted[index].pixel = Math.min(sorted[index].pixel, limit, index < sorted.length - 1 ? sorted[index + 1].pixel - 13 : Infinity);
    }
    for (const each of sorted) ends.push({ ...each, along: most, value: high * (low / high) ** (each.pixel / pixels) });
  }
  return Plot.text(ends, { x: "along", y: "value", ...(fy ? { fy } : {}), text: (each) => fitted(each.line, room - 12), fill: (each) => each.style.colour, textAnchor: "start", dx: 10 });
}
