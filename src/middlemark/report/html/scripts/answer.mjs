// The picture beside the answers: the p50 of what the first of them holds against each other, over the sizes, with the floors.
import { lines } from "./by_size.mjs";
import { lineName } from "./labels.mjs";
import { ranges } from "./ranges.mjs";
import { bytes, plain, time } from "./words.mjs";

const METRIC = { key: "p50", name: "p50_ns", title: "p50", scale: "time" };

export const answerFigure = {
  id: "answer-picture",
  title: "Typical latency by size",
  says: "The p50 of what the first answer names, at every size; dashed: the floor of this machine. Lower is better.",
  isFixed: true,
  rows(context) {
    const { data } = context;
    const named = new Set(data.answers.find((each) => each.cells?.length)?.cells ?? data.cells.map((each) => each.i));
    const of = (test) => new Set(data.cells.filter((each) => test(each)).map((each) => each.series));
    const series = of((each) => named.has(each.i));
    const models = data.cells.filter((each) => named.has(each.i));
    const alike = (cell) => models.some((each) => each.kind === cell.kind && each.f.receive === cell.f.receive && each.f.pattern === cell.f.pattern);
    const floors = new Set(models.map((each) => each.floor_cell).filter((each) => each !== undefined && each !== null));
    const floorSeries = floors.size ? of((each) => floors.has(each.i)) : of((each) => each.floor && alike(each));
    const kind = models[0]?.kind ?? data.cells[0].kind;
    const rows = data.cells
      .filter((each) => !each.failed && each.latency?.p50 > 0 && each.kind === kind && (series.has(each.series) || (each.floor && floorSeries.has(each.series))))
      .map((cell) => ({
        cell,
        label: cell.label,
        line: lineName(cell, data.factors, "size"),
        along: cell.f.size,
        panel: "",
        p50_ns: cell.latency.p50,
        p50_ns_low: cell.by_rate ? null : cell.interval?.[0],
        p50_ns_high: cell.by_rate ? null : cell.interval?.[1],
        times_floor: cell.times_floor,
      }));
    const columns = [
      { name: "line", title: "what" },
      { name: "along", title: "size", show: bytes },
      { name: "p50_ns", title: "p50", show: time },
      { name: "times_floor", title: "× floor", show: plain },
    ];
    return { rows, columns };
  },
  draw(rows, context, width) {
    if (new Set(rows.map((row) => row.along)).size === 1) {
      const option = (key) => ({ kind: rows[0].cell.kind, size: String(rows[0].along) })[key];
      const cells = rows.map((row) => row.cell);
      return ranges.draw(ranges.rows({ ...context, cells, option }).rows, context, width);
    }
    return lines(rows, [METRIC], { along: "size", width, context, height: 270 });
  },
};
