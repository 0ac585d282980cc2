// The costs of the chosen experiment, and throughput, loss, processor time, memory and context switches along a
// factor.
import * as Plot from "@observablehq/plot";
import { along } from "./along.mjs";
import { chosen } from "./answer.mjs";
import { NARROW, bands, plotted, roomFor, stacked, tip } from "./style.mjs";
import { bytes, plain, rate, time } from "./words.mjs";

const COSTS = [
  ["cpu", "processors in use", plain],
  ["cpu_ns_per_message", "processor time a message", time],
  ["rss_bytes", "memory of all workers", bytes],
  ["voluntary_hz", "times a thread waited", rate],
  ["involuntary_hz", "times a thread was preempted", rate],
  ["bytes_per_s", "bytes received a second", bytes],
];

export const cost = {
  id: "cost-of-each",
  title: "Processors, memory, context switches and bytes",
  says: "The medians over the trials of each row of the experiment above. The companions (RouDi, a broker) are not included.",
  isChosen: true,
  has: (data) => data.cells.some((cell) => COSTS.some(([key]) => cell[key] > 0)),
  lacks: () => "no costs were measured",
  rows(context) {
    const rows = chosen(context).map(({ cell, name }) => ({
      cell,
      label: name,
      ...Object.fromEntries(COSTS.map(([key]) => [key, cell[key] ?? null])),
    }));
    const columns = [{ name: "label", title: "what" }, ...COSTS.map(([name, title, show]) => ({ name, title, show }))];
    return { rows, columns };
  },
  draw(rows, context, width) {
    const known = COSTS.filter(([key]) => rows.some((row) => row[key] > 0));
    const wide = width >= NARROW;
    const across = wide ? Math.min(3, known.length) : 1;
    const names = new Map(rows.map((row) => [row.cell.i, row.label]));
    const room = roomFor([...names.values()], wide ? width / 2 : width);
    const inner = (width - room) / across;
    const drawings = [];
    for (let first = 0; first < known.length; first += across) {
      const points = known.slice(first, first + across).flatMap(([key, title, show]) => {
        const most = Math.max(...rows.map((row) => row[key] ?? 0));
        return rows
          .filter((row) => row[key] !== null)
          .map((row) => ({
            ...row,
            title,
            show,
            value: row[key],
            part: row[key] / most,
            style: context.styles.of(row.cell.series),
          }));
      });
      const frame = {
        width: first + across > known.length ? room + inner * (known.length - first) : width,
        height: rows.length * 24 + 46,
        marginLeft: room,
        marginRight: 4,
        marginTop: 30,
        marginBottom: 10,
      };
      const titles = [...new Set(points.map((each) => each.title))];
      drawings.push(
        plotted(
          frame,
          {
            x: { domain: [0, 1.45], axis: null },
            y: {
              ...bands(
                rows.map((row) => row.cell.i),
                names,
                room,
              ),
              padding: 0.25,
            },
            fx: { label: null, axis: "top", domain: titles, padding: 0.04 },
          },
          [
            Plot.rect(points, { x1: 0, x2: "part", y: (row) => row.cell.i, fx: "title", fill: (row) => row.style.colour }),
            Plot.text(points, {
              x: "part",
              y: (row) => row.cell.i,
              fx: "title",
              dx: 5,
              textAnchor: "start",
              text: (row) => row.show(row.value),
              fill: "var(--ink)",
            }),
            tip({
              data: points,
              at: { x: "part", y: (row) => row.cell.i, fx: "title" },
              title: (row) => `${row.label}\n${row.title}: ${row.show(row.value)}`,
            }),
          ],
        ),
      );
    }
    return { svg: stacked(drawings, width) };
  },
};

const field = (name, title, scale) => ({ key: name, name, title, scale, value: (cell) => cell[name] ?? null });

// The interval is one of the rate only if trials are judged by the rate.
const interval = (end) => (cell) => (cell.by_rate ? (cell.interval?.[end] ?? null) : null);

export const throughput = along({
  id: "throughput-by-size",
  title: "Throughput",
  says:
    "Messages that arrived intact at one subscriber, and their bytes of payload. For round trips: the number " +
    "of round trips, one at a time unless the configuration says otherwise. Up is better; both axes are " +
    "logarithmic.",
  metrics: [
    { ...field("rate_hz", "messages a second", "rate"), low: interval(0), high: interval(1) },
    field("bytes_per_s", "bytes a second", "bytesRate"),
  ],
});

export const loss = along({
  id: "loss",
  title: "Loss",
  says:
    "The share of the messages that never arrived at a subscriber they were sent to. Cells without loss are " +
    "not drawn, because the axis is logarithmic.",
  metrics: [field("loss", "lost", "share")],
});

export const processor = along({
  id: "processor",
  title: "Processor time",
  says:
    "The processor time of all workers for each message, without the time in which publishers wait for their " +
    "next instant; or the number of processors in use. The companions (RouDi, a broker) have their own figure. " +
    "Down is better.",
  metrics: [
    field("cpu_ns_per_message", "for each message", "time"),
    field("cpu", "processors in use", "ratio"),
    field("companion_cpu", "processors, companions", "ratio"),
  ],
});

export const memory = along({
  id: "memory",
  title: "Memory",
  says:
    "Resident memory at the end of the measurement, of all workers together (pages that they share count in " +
    "each), of one subscriber's process, and of the companions, which the first two do not include.",
  metrics: [
    field("rss_bytes", "all workers", "bytes"),
    field("bytes_per_subscriber", "one subscriber", "bytes"),
    field("companion_rss_bytes", "companions", "bytes"),
  ],
  first: "subscribers",
});

export const switches = along({
  id: "context-switches",
  title: "Context switches",
  says:
    "How often a second a thread waited (voluntary) or was preempted (involuntary). Involuntary switches mean " +
    "that another thread used the processor.",
  metrics: [field("voluntary_hz", "voluntary", "rate"), field("involuntary_hz", "involuntary", "rate")],
});
