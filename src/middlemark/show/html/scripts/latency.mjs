// Latency along a factor.
import { along } from "./along.mjs";

const quantile = (key) => ({
  key,
  name: `${key.replace(".", "_")}_ns`,
  title: key,
  scale: "time",
  value: (cell) => cell.latency?.[key] ?? null,
});

// The interval is one of the figure that trials are judged by. If that is a rate, the latency has no interval.
const p50 = {
  ...quantile("p50"),
  low: (cell) => (cell.by_rate ? null : (cell.interval?.[0] ?? null)),
  high: (cell) => (cell.by_rate ? null : (cell.interval?.[1] ?? null)),
};

export const latencyBySize = (kind, words, quantiles) =>
  along({
    id: `latency-by-size${kind === "one_way" ? "-one-way" : ""}`,
    title: `Latency: ${words}`,
    says:
      "Both axes are logarithmic. A point is the median over the trials of a configuration, a band its 95 % interval " +
      "(with six trials or more). Dashed grey lines are raw transports, without a middleware. " +
      "Percentiles with too few samples are left out.",
    metrics: [p50, ...quantiles.slice(1).map(quantile), ...["mean", "min", "max"].map(quantile)],
    together: ["p50", "p99", "p99.9"],
    only: (cell) => cell.kind === kind,
  });

export const timesRawTransport = along({
  id: "times-raw-transport",
  title: "How many times the raw transport of the same carrier",
  says:
    "The p50 of a configuration divided by the p50 of the raw transport over the same carrier, at the same size " +
    "and with the same way of receiving. 1 is the raw transport itself; the scale is logarithmic.",
  metrics: [
    {
      key: "times",
      name: "times_raw_transport",
      title: "times the raw transport",
      scale: "ratio",
      value: (cell) => (cell.is_raw_transport ? null : (cell.times_raw_transport ?? null)),
    },
  ],
});
