// Throughput, loss, processor time, memory and context switches along a factor.
import { along } from "./along.mjs";

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
    "each), of one subscriber's process, and of the companions, which are in neither of these.",
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
