// Offered against received rates, and latency as the load rises.
import * as Plot from "@observablehq/plot";
import { lineName } from "./labels.mjs";
import { logAxis, plotted, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { bytes, rate, share, time } from "./words.mjs";

const MOST_LEGEND = 24;

// Returns every offered load: cells with a rate, and the steps of curves and searches.
function loads(context) {
  return context.cells
    .filter((cell) => !cell.failed)
    .flatMap((cell) => {
      const about = { cell, label: cell.label, line: lineName(cell, context.data.factors, "rate"), size: cell.f.size };
      const steps = (cell.steps ?? []).map((each) => ({
        ...about,
        offered_hz: each.offered_hz ?? null,
        sent_hz: each.sent_hz ?? null,
        received_hz: each.received_hz ?? null,
        loss: each.lost ?? null,
        p50_ns: each.p50_ns ?? null,
        p99_ns: each.p99_ns ?? null,
        held: each.held ? "yes" : "no",
        knee: each.knee ? "knee" : "",
      }));
      if (steps.length || !cell.offered_hz) return steps;
      return [
        {
          ...about,
          offered_hz: cell.offered_hz,
          sent_hz: cell.sent_hz ?? null,
          received_hz: cell.rate_hz ?? null,
          loss: cell.loss ?? null,
          p50_ns: cell.latency?.p50 ?? null,
          p99_ns: cell.latency?.p99 ?? null,
          held: "",
          knee: "",
        },
      ];
    });
}

const COLUMNS = columnsOf(
  ["label", "what"],
  ["size", "size", bytes],
  ["offered_hz", "offered", rate],
  ["sent_hz", "sent", rate],
  ["received_hz", "received", rate],
  ["loss", "lost", share],
  ["p50_ns", "p50", time],
  ["p99_ns", "p99", time],
  ["held", "held"],
  ["knee", "knee"],
);

// A round trip at a rate receives what it offers: one load of it is no figure.
const has = (data) =>
  data.cells.some((cell) => cell.steps?.length || (cell.offered_hz && cell.kind === "one_way" && cell.rate_hz));

const absent = "no row is a stream at a rate: --pattern stream with --rate and a number, curve or sustainable";

function legendOf(points) {
  const series = new Map(points.map((each) => [each.line, { name: each.line, ...each.style }]));
  return series.size <= MOST_LEGEND ? [...series.values()] : [];
}

const styled = (rows, context) => rows.map((row) => ({ ...row, style: context.styles.of(row.cell.series) }));

export const offeredReceived = {
  id: "offered-received",
  title: "Offered against received",
  says:
    "On the dashed diagonal all offered messages arrived; below it messages were late or lost. A hollow mark " +
    "lost messages. Both axes are messages a second at one subscriber, logarithmic.",
  has,
  lacks: () => absent,
  options: () => [
    {
      key: "figure",
      label: "Figure",
      values: [
        ["received_hz", "received"],
        ["loss", "share lost"],
      ],
      initial: "received_hz",
    },
  ],
  rows: (context) => ({
    rows: loads(context).filter((each) => each.offered_hz && each.received_hz !== null),
    columns: COLUMNS,
    absent,
  }),
  draw(rows, context, width) {
    const points = styled(rows, context).sort((a, b) => a.offered_hz - b.offered_hz);
    const lost = context.option("figure") === "loss";
    const received = points.filter((each) => each.received_hz > 0);
    const offered = points.map((each) => each.offered_hz);
    const ends = [Math.min(...offered), Math.max(...offered)];
    const most = { most: Math.max(3, Math.floor(width / 80)) };
    const at = { x: "offered_hz", y: lost ? (each) => each.loss ?? 0 : "received_hz" };
    const shown = lost ? points : received;
    const x = logAxis(offered, rate, "offered", most);
    const y = logAxis(
      received.map((each) => each.received_hz),
      rate,
      "received",
      { most: 8 },
    );
    const frame = { width, height: 340, marginLeft: 64, marginRight: 20, marginBottom: 46 };
    const svg = plotted(
      frame,
      { x, y: lost ? { tickFormat: share, label: "share of messages lost", grid: true, zero: true } : y },
      [
        lost
          ? null
          : Plot.line([ends.map((end) => [end, end])].flat(), { stroke: "var(--raw-transport)", strokeDasharray: "5 4" }),
        Plot.line(shown, { ...at, z: "line", stroke: (each) => each.style.colour, strokeOpacity: 0.6 }),
        Plot.dot(shown, {
          ...at,
          stroke: (each) => each.style.colour,
          fill: (each) => (each.loss > 0 ? "var(--surface)" : each.style.colour),
          symbol: (each) => each.style.symbol,
          r: 4,
        }),
        tip({
          data: shown,
          at,
          title: (each) =>
            `${each.label}\noffered ${rate(each.offered_hz)}, received ${rate(each.received_hz)}, lost ${share(each.loss)}`,
        }),
      ],
    );
    return { svg, legend: legendOf(points) };
  },
};

export const latencyThroughput = {
  id: "latency-throughput",
  title: "Latency as the load rises",
  says:
    "Latency against the rate received, one line for each curve. A ring marks the knee: the highest load before " +
    "latency rises steeply. Hollow marks did not reach their rate.",
  has,
  lacks: () => absent,
  options: () => [
    {
      key: "figure",
      label: "Latency",
      values: [
        ["p99_ns", "p99"],
        ["p50_ns", "p50"],
      ],
      initial: "p99_ns",
    },
  ],
  rows: (context) => ({
    rows: loads(context).filter((each) => each.received_hz && (each.p50_ns || each.p99_ns)),
    columns: COLUMNS,
    absent,
  }),
  draw(rows, context, width) {
    const key = context.option("figure");
    const points = styled(rows, context)
      .filter((each) => each[key] > 0)
      .sort((a, b) => (a.offered_hz ?? Infinity) - (b.offered_hz ?? Infinity));
    if (points.length === 0) return null;
    const at = { x: "received_hz", y: key };
    const knees = points.filter((each) => each.knee);
    const x = logAxis(
      points.map((each) => each.received_hz),
      rate,
      "received",
      { most: Math.max(3, Math.floor(width / 80)) },
    );
    const y = logAxis(
      points.map((each) => each[key]),
      time,
      null,
      { most: 8 },
    );
    const svg = plotted({ width, height: 340, marginLeft: 64, marginRight: 20, marginBottom: 46 }, { x, y }, [
      Plot.line(points, { ...at, z: "line", stroke: (each) => each.style.colour, strokeWidth: 1.6 }),
      Plot.dot(points, {
        ...at,
        stroke: (each) => each.style.colour,
        fill: (each) => (each.held === "no" ? "var(--surface)" : each.style.colour),
        symbol: (each) => each.style.symbol,
        r: 4,
      }),
      Plot.dot(knees, { ...at, r: 9, stroke: "var(--ink)", strokeWidth: 1.5 }),
      Plot.text(knees.slice(0, 12), { ...at, text: () => "knee", dy: -16, fill: "var(--ink)" }),
      tip({
        data: points,
        at,
        title: (each) =>
          `${each.label}\nreceived ${rate(each.received_hz)}\np50 ${time(each.p50_ns)}, p99 ${time(each.p99_ns)}`,
      }),
    ]);
    return { svg, legend: legendOf(points) };
  },
};
