// All experiments together: each middleware's time divided by the lowest, as a geometric mean, with chips to select middlewares.
import * as Plot from "@observablehq/plot";
import { logAxis, plotted, roomFor, tip } from "./style.mjs";
import { columnsOf, element } from "./table.mjs";
import { plain, times } from "./words.mjs";

// By system: its time per message in each standing.
function measured(context) {
  const { cells, standings } = context.data;
  const shown = new Set(context.cells.map((each) => each.i));
  const ns = (place) => (cells[place.row].by_rate ? 1e9 / place.figure : place.figure);
  return standings
    .filter((each) => each.by === "p50" && (each.levels.carrier ?? "any") === "any")
    .map(
      (each) =>
        new Map(each.places.filter(({ row }) => shown.has(row)).map((place) => [cells[place.row].f.adapter, ns(place)])),
    )
    .filter((each) => each.size > 0);
}

const mean = (values) => Math.exp(values.reduce((sum, each) => sum + Math.log(each), 0) / values.length);

export const overall = {
  id: "overall",
  title: "Over everything",
  says:
    "The time of each middleware over its best transport, divided by the lowest time: the geometric mean over " +
    "all sizes and experiments. 1 means the lowest everywhere. For your own use case, see the chart above.",
  has: (data) =>
    new Set(data.cells.filter((each) => !each.is_raw_transport && !each.failed).map((each) => each.f.adapter)).size > 1 &&
    data.standings.length > 1,
  // Chips show or hide a middleware, here and in all other figures.
  controls(context, apply) {
    const factor = context.data.factors.find((each) => each.name === "adapter");
    const rawTransports = new Set(context.data.cells.filter((each) => each.is_raw_transport).map((each) => each.f.adapter));
    const systems = factor.levels.map((level, index) => ({ level, index })).filter(({ level }) => !rawTransports.has(level));
    const chosen = () => context.selection.levels.get("adapter") ?? new Set(factor.levels.keys());
    return systems.map(({ level, index }) => {
      const toggle = () => {
        const now = new Set(chosen());
        if (!now.delete(index)) now.add(index);
        context.selection.choose("adapter", now);
        apply();
      };
      return element(
        "button",
        { type: "button", class: "chip", "aria-pressed": String(chosen().has(index)), onclick: toggle, "data-chip": level },
        level,
      );
    });
  },
  rows(context) {
    const all = measured(context);
    const systems = [...new Set(all.flatMap((each) => [...each.keys()]))];
    const shared = all.filter((each) => each.size === systems.length);
    const held = shared.length ? shared : all;
    const rows = systems
      .map((system) => {
        const own = held.filter((each) => each.has(system));
        const cell = context.cells.find((each) => each.f.adapter === system);
        return {
          cell,
          system,
          times: own.length ? mean(own.map((each) => each.get(system) / Math.min(...each.values()))) : null,
          lowest: own.filter((each) => each.get(system) === Math.min(...each.values())).length,
          of: own.length,
        };
      })
      .filter((row) => row.times)
      .sort((a, b) => a.times - b.times);
    const columns = columnsOf(
      ["system", "middleware"],
      ["times", "× the lowest", times],
      ["lowest", "lowest in"],
      ["of", "of"],
    );
    const notes = [
      shared.length === all.length
        ? `Of ${all.length}.`
        : shared.length
          ? `Over the ${shared.length} of ${all.length} in which all of them were measured; leave one out to see others.`
          : "None was measured in all: each over its own, which is no fair order.",
    ];
    return { rows, columns, notes };
  },
  draw(rows, context, width) {
    const left = roomFor(
      rows.map((row) => row.system),
      width,
    );
    const x = logAxis([1, ...rows.map((row) => row.times)], (each) => `${plain(each)} ×`, null, {
      most: Math.max(3, Math.floor((width - left) / 80)),
      domain: [1, Math.max(...rows.map((row) => row.times)) * 1.15],
    });
    const frame = { width, height: rows.length * 24 + 50, marginLeft: left, marginRight: 90 };
    const svg = plotted(
      frame,
      { x, y: { type: "band", domain: rows.map((row) => row.system), label: null, tickSize: 0, padding: 0.25 } },
      [
        Plot.rect(rows, {
          x1: 1,
          x2: (row) => Math.max(row.times, 1.01),
          y: "system",
          fill: (row) => context.styles.of(row.cell.series).colour,
        }),
        Plot.text(rows, {
          x: (row) => Math.max(row.times, 1.01),
          y: "system",
          textAnchor: "start",
          dx: 6,
          text: (row) => `${times(row.times)}${row.lowest ? `, lowest in ${row.lowest}` : ""}`,
          fill: "var(--ink)",
        }),
        tip({
          data: rows,
          at: { x: "times", y: "system" },
          title: (row) => `${row.system}: ${times(row.times)} the lowest\nlowest in ${row.lowest} of ${row.of}`,
        }),
      ],
    );
    return { svg };
  },
};
