// Crowds: the figures along the number of participants with their fitted lines, and how complete each start is over time.
import * as Plot from "@observablehq/plot";
import * as d3 from "d3";
import { NARROW, SCALES, logAxis, plotted, sizeAxis, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { share, text, time } from "./words.mjs";

const MOST_PANELS = 12;
const MOST_LEGEND = 24;
// Metric of the document → [title of its panel, key of SCALES].
const FIGURES = {
  complete: ["half of the participants complete", "time"],
  complete_max: ["all participants complete", "time"],
  idle_cpu: ["idle: processors", "ratio"],
  idle_packets: ["idle: packets a second", "rate"],
  idle_bytes: ["idle: bytes a second", "bytesRate"],
  idle_memory: ["idle: memory", "bytes"],
  p50: ["one-way latency, p50", "time"],
};
const titleOf = (figure) => FIGURES[figure]?.[0] ?? figure;
const scaleOf = (figure) => SCALES[FIGURES[figure]?.[1] ?? "ratio"];
const signed = (residual) => `${residual >= 1 ? "+" : "−"}${Math.abs(100 * (residual - 1)).toFixed(0)} %`;

const alongs = (data) => [...new Set(data.laws.map((each) => each.along))];

export const scaling = {
  id: "crowd-scaling",
  title: "Growth with the number of participants or topics",
  says:
    "A mark is the median at one number, a line is the fitted power law; both axes are logarithmic, so a steeper line grows " +
    "faster. Idle figures are those of the whole crowd. A mark beside its line is not explained by one power law.",
  has: (data) => data.laws.length > 0,
  options: ({ data }) => [
    { key: "along", label: "Along", values: alongs(data).map((each) => [each, each]), initial: alongs(data)[0] },
    {
      key: "figure",
      label: "Figure",
      values: [["", "all"], ...[...new Set(data.laws.map((each) => each.figure))].map((each) => [each, titleOf(each)])],
      initial: "",
    },
  ],
  rows(context) {
    const shown = new Set(context.cells.map((each) => each.i));
    const rows = context.data.laws
      .filter(
        (law) =>
          law.along === context.option("along") &&
          (!context.option("figure") || law.figure === context.option("figure")) &&
          law.rows.some((each) => shown.has(each)),
      )
      .flatMap((law) =>
        law.points.map(([number, value, residual]) => ({
          law,
          label: law.line,
          figure: titleOf(law.figure),
          number,
          value,
          fitted: law.coefficient * number ** law.exponent,
          residual,
          exponent: law.exponent,
          low: law.low,
          high: law.high,
        })),
      );
    const shows = (value, row) => scaleOf(row.law.figure).show(value);
    const columns = [
      ...columnsOf(["label", "what"], ["figure", "figure"], ["number", "number"]),
      { name: "value", title: "median", show: shows },
      { name: "fitted", title: "line", show: shows },
      ...columnsOf(
        ["residual", "residual", signed],
        ["exponent", "exponent", (value) => value.toFixed(2)],
        ["low", "from (95 %)", (value) => value.toFixed(2)],
        ["high", "to", (value) => value.toFixed(2)],
      ),
    ];
    return { rows, columns };
  },
  draw(rows, context, width) {
    const along = context.option("along");
    const styled = rows.map((row) => ({ ...row, style: styleOf(row.law, context) }));
    const figures = d3.groups(styled, (each) => each.law.figure);
    const across = figures.length > 1 ? columnsFor(width) : 1;
    const inner = Math.floor(width / across);
    const drawings = figures.map(([figure, points]) => panelOfLaws(figure, points, along, inner, across > 1 ? 250 : 300));
    return { svg: tiled(drawings, across, inner, width), legend: legendOf(styled, (each) => each.law.line) };
  },
};

function panelOfLaws(figure, points, along, width, height) {
  const scale = scaleOf(figure);
  const ends = points.flatMap((each) => [each.value, each.fitted]);
  const y = logAxis(ends, scale.show, null, { most: 6, binary: scale.binary || scale === SCALES.bytesRate });
  const x = sizeAxis(
    points.map((each) => each.number),
    width - 90,
    along,
    text,
  );
  return plotted(frameOf(width, height), { x, y }, [
    heading(titleOf(figure)),
    Plot.line(points, {
      x: "number",
      y: "fitted",
      z: (each) => each.law.line,
      stroke: (each) => each.style.colour,
      strokeWidth: 1.6,
      sort: "number",
    }),
    Plot.dot(points, {
      x: "number",
      y: "value",
      fill: (each) => each.style.colour,
      symbol: (each) => each.style.symbol,
      r: 3.6,
    }),
    tip({
      data: points,
      at: { x: "number", y: "value" },
      title: (each) =>
        `${each.label}\n${each.number} ${along}: ${scale.show(each.value)} (${signed(each.residual)})\n` +
        `exponent ${each.exponent.toFixed(2)} (${each.low.toFixed(2)} to ${each.high.toFixed(2)})`,
    }),
  ]);
}

const isCrowd = (cell) => cell.start?.length > 0;
// The factors that a panel shares; every other factor belongs to a line.
const OF_PANEL = ["participants", "topics", "subscribe", "participants_per_process"];

export const starts = {
  id: "crowd-starts",
  title: "Starts",
  says:
    "The share of the participants that had heard all their publishers at each time after the first participant began to " +
    "open, over all trials. A line that ends below 100 % has participants that never heard all of them.",
  has: (data) => data.cells.some(isCrowd),
  rows(context) {
    const varied = OF_PANEL.map((name) => context.data.factors.find((each) => each.name === name)).filter(
      (each) => each?.levels.length > 1,
    );
    const cells = context.cells.filter(isCrowd);
    const rows = cells.flatMap((cell) =>
      cell.start.map(([at_ns, part]) => ({
        cell,
        label: cell.label,
        line: `${cell.f.adapter} ${cell.f.transport}${cell.f.native === "defaults" ? "" : ` ${cell.f.native}`}`,
        panel: varied.map((each) => `${cell.f[each.name]} ${each.label}`).join(", "),
        participants: cell.f.participants,
        at_ns,
        part,
      })),
    );
    return {
      rows: rows.sort((a, b) => a.participants - b.participants || a.at_ns - b.at_ns),
      columns: columnsOf(
        ["label", "what"],
        ["participants", "participants"],
        ["at_ns", "time", time],
        ["part", "complete", share],
      ),
    };
  },
  draw(rows, context, width) {
    const styled = rows.map((row) => ({ ...row, style: context.styles.of(row.cell.series) }));
    const panels = d3.groups(styled, (each) => each.panel);
    const drawn = panels.slice(-MOST_PANELS);
    const across = drawn.length > 1 ? columnsFor(width) : 1;
    const inner = Math.floor(width / across);
    const drawings = drawn.map(([name, points]) => panelOfStarts(name, points, inner, across > 1 ? 190 : 210));
    const notes = ["Each panel has a time axis of its own."];
    if (drawn.length < panels.length) notes.push(`${drawn.length} of ${panels.length} panels are drawn, the largest crowds.`);
    const bare = styled.map(({ line, style: { colour, dash } }) => ({ line, style: { colour, dash } }));
    return { svg: tiled(drawings, across, inner, width), legend: legendOf(bare, (each) => each.line), notes };
  },
};

function panelOfStarts(name, points, width, height) {
  const at = { x: "at_ns", y: "part" };
  const x = { tickFormat: time, label: null, grid: true, ticks: Math.max(2, Math.floor((width - 80) / 80)), zero: true };
  const y = { domain: [0, 1], tickFormat: share, label: null, grid: true, ticks: 3 };
  return plotted(frameOf(width, height), { x, y }, [
    heading(name),
    Plot.line(points, {
      ...at,
      z: (each) => each.cell.i,
      stroke: (each) => each.style.colour,
      strokeWidth: 1.8,
      strokeDasharray: (each) => each.style.dash,
      curve: "step-after",
    }),
    tip({ data: points, at, title: (each) => `${each.label}\n${share(each.part)} after ${time(each.at_ns)}` }),
  ]);
}

const frameOf = (width, height) => ({
  width,
  height,
  marginLeft: 64,
  marginRight: 14,
  marginTop: 28,
  marginBottom: 40,
});

const heading = (name) =>
  name ? Plot.text([name], { text: (each) => each, frameAnchor: "top-left", dx: 2, dy: -18, fontWeight: 600 }) : null;

const columnsFor = (width) => (width >= 960 ? 3 : width >= NARROW ? 2 : 1);

const styleOf = (law, context) => context.styles.of(context.data.cells[law.rows[0]].series);

function legendOf(points, nameOf) {
  const named = new Map(points.map((each) => [nameOf(each), { name: nameOf(each), ...each.style }]));
  return named.size <= MOST_LEGEND ? [...named.values()] : [];
}

// Combines drawings of equal width into rows of `across`, as one drawing that can be saved.
function tiled(drawings, across, inner, width) {
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  let y = 0;
  for (let first = 0; first < drawings.length; first += across) {
    const line = drawings.slice(first, first + across);
    line.forEach((each, column) => {
      each.setAttribute("x", column * inner);
      each.setAttribute("y", y);
      each.setAttribute("style", `width: ${inner}px; height: ${each.getAttribute("height")}px; overflow: visible`);
      whole.append(each);
    });
    y += Math.max(...line.map((each) => Number(each.getAttribute("height"))));
  }
  for (const [name, value] of Object.entries({ width, height: y, viewBox: `0 0 ${width} ${y}` }))
    whole.setAttribute(name, value);
  return whole;
}
