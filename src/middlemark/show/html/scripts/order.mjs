// The order of the trials: trials that are close in time met the same disturbances.
import * as Plot from "@observablehq/plot";
import { plotted, tip } from "./style.mjs";

export const order = {
  id: "order",
  title: "The order of the trials",
  says:
    "Each point is a trial, from the first to the last. The points should be scattered: if trials ran in " +
    "blocks, a drift of the machine would look like a difference between configurations.",
  has: (data) => data.runs.some((each) => each.order?.length),
  options: ({ data }) => [
    {
      key: "run",
      label: "Run",
      values: data.runs.filter((each) => each.order?.length).map((each) => [each.id, each.name]),
      initial: data.runs[0]?.id,
    },
  ],
  rows(context) {
    const run = context.data.runs.find((each) => each.id === context.option("run"));
    const seen = new Map(context.cells.map((each) => [each.i, each]));
    const rows = (run?.order ?? [])
      .map((index, place) => ({ place: place + 1, cell: seen.get(index) }))
      .filter((each) => each.cell)
      .map((each) => ({ ...each, label: each.cell.label }));
    const columns = [
      { name: "place", title: "trial" },
      { name: "label", title: "configuration" },
    ];
    return {
      rows,
      columns,
      notes: run?.order_cut ? ["Only the first 2,000 trials are shown."] : [],
      absent: "No order is known.",
    };
  },
  draw(rows, context, width) {
    const frame = { width, height: 240, marginLeft: 54, marginBottom: 46 };
    const svg = plotted(
      frame,
      {
        x: { label: "trial", grid: true, ticks: Math.floor(width / 90), domain: [0, rows.at(-1).place + 1] },
        y: { label: "configuration", ticks: 5 },
      },
      [
        Plot.dot(rows, {
          x: "place",
          y: (row) => row.cell.i + 1,
          r: 2.4,
          fill: (row) => context.styles.of(row.cell.series).colour,
          symbol: (row) => context.styles.of(row.cell.series).symbol,
        }),
        tip({
          data: rows,
          at: { x: "place", y: (row) => row.cell.i + 1 },
          title: (row) => `trial ${row.place}: ${row.label}`,
        }),
      ],
    );
    return { svg };
  },
};
