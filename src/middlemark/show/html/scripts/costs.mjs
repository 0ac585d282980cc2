// Throughput and loss along a factor, and what a message costs.
import { along } from "./along.mjs";

const field = (name, title, scale) => ({ key: name, name, title, scale, value: (cell) => cell[name] ?? null });

// The interval is that of the rate only where the rate stands for a trial.
const interval = (end) => (cell) => (cell.by_rate ? (cell.interval?.[end] ?? null) : null);

export const throughput = along({
  id: "throughput-by-size",
  title: "Throughput",
  says: "Messages that arrived intact at one subscriber, and the same as bytes of payload. Of round trips it is how many went there and back, one at a time unless the configuration says otherwise. Up is better; both axes are logarithmic.",
  metrics: [
    { ...field("rate_hz", "messages a second", "rate"), low: interval(0), high: interval(1) },
    field("bytes_per_s", "bytes a second", "bytesRate"),
  ],
});

export const loss = along({
  id: "loss",
  title: "Loss",
  says: "The share of the messages that never arrived at a subscriber they were sent to. What lost nothing is not drawn: the axis is logarithmic.",
  metrics: [field("loss", "lost", "share")],
});

export const processor = along({
  id: "processor",
  title: "Processor time",
  says: "What a message costs in processor time, all workers together and less what publishers spent waiting for their next instant; or how many processors were in use. What the companions (RouDi, a broker) use is a figure of its own. Down is better.",
  metrics: [
    field("cpu_ns_per_message", "for each message", "time"),
    field("cpu", "processors in use", "ratio"),
    field("companion_cpu", "processors, companions", "ratio"),
  ],
});

export const memory = along({
  id: "memory",
  title: "Memory",
  says: "Resident memory at the end of the measurement, of all workers together (pages that they share count in each), of one subscriber's process, and of the companions, which are in neither.",
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
  says: "How often a second a thread had to wait (voluntary) or was made to give way (involuntary). Involuntary ones mean that somebody else wanted the processor.",
  metrics: [field("voluntary_hz", "voluntary", "rate"), field("involuntary_hz", "involuntary", "rate")],
});
