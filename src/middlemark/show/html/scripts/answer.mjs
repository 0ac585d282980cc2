// The picture beside the answers: what the first of them holds against each other, over the sizes, with the floors. Latency, or of what is
// sent as fast as possible the throughput.
import { lines } from "./by_size.mjs";
import { lineName } from "./labels.mjs";
import { ranges } from "./ranges.mjs";
import { SCALES } from "./style.mjs";
import { bytes, plain } from "./words.mjs";

const P50 = {
  metric: { key: "p50", name: "p50_ns", title: "p50", scale: "time" },
  value: (cell) => cell.latency?.p50 ?? null,
  title: "Typical latency by size",
  says: "The p50 of what the first answer names, at every size; dashed: the machine alone. Lower is better.",
};
const RATE = {
  metric: { key: "rate", name: "rate_hz", title: "messages a second", scale: "rate" },
  value: (cell) => cell.rate_hz ?? null,
  title: "Throughput by size",
  says: "The messages a second of what the first answer names, at every size; dashed: the machine alone. Higher is better.",
};

export function answerFigure(data) {
  const models = namedFirst(data);
  const { metric, value, title, says } = models.some((each) => !each.by_rate && P50.value(each)) ? P50 : RATE;
  const cells = besideFloors(data, models).filter((each) => value(each) > 0);
  return {
    id: "answer-picture",
    title,
    says,
    isFixed: true,
    has: () => cells.length > 0,
    rows() {
      const bound = (cell, end) => (cell.by_rate === (metric === RATE.metric) ? cell.interval?.[end] ?? null : null);
      const rows = cells.map((cell) => ({
        cell,
        label: cell.label,
        line: lineName(cell, data.factors, "size"),
        along: cell.f.size,
        panel: "",
        [metric.name]: value(cell),
        [`${metric.name}_low`]: bound(cell, 0),
        [`${metric.name}_high`]: bound(cell, 1),
        times_floor: cell.times_floor ?? null,
      }));
      const columns = [
        { name: "line", title: "what" },
        { name: "along", title: "size", show: bytes },
        { name: metric.name, title: metric.title, show: SCALES[metric.scale].show },
        { name: "times_floor", title: "× machine alone", show: plain },
      ];
      return { rows, columns };
    },
    draw(rows, context, width) {
      if (metric === P50.metric && new Set(rows.map((row) => row.along)).size === 1) {
        const option = (key) => ({ kind: cells[0].kind, size: String(cells[0].f.size) })[key];
        return ranges.draw(ranges.rows({ ...context, cells, option }).rows, context, width);
      }
      return lines(rows, [metric], { along: "size", width, context, height: 270 });
    },
  };
}

function namedFirst(data) {
  const named = data.answers.find((each) => each.cells?.length)?.cells;
  return named ? data.cells.filter((each) => named.includes(each.i)) : data.cells.filter((each) => !each.failed);
}

// Every size of the series that are named, and of the floors that they are held against.
function besideFloors(data, models) {
  const known = models.map((each) => each.floor_cell).filter((each) => each !== undefined && each !== null);
  const alike = (cell) => models.some((each) => each.f.receive === cell.f.receive && each.f.pattern === cell.f.pattern);
  const floors = data.cells.filter((each) => (known.length ? known.includes(each.i) : each.floor && alike(each)));
  const series = new Set([...models, ...floors].map((each) => each.series));
  return data.cells.filter((each) => !each.failed && each.kind === models[0].kind && series.has(each.series));
}
