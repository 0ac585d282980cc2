// Throughput by size, and what a message costs.
import { bySize } from "./by_size.mjs";

const field = (name, title, scale) => ({ key: name, name, title, scale, value: (cell) => cell[name] ?? null });

// The interval is that of the rate only where the rate stands for a trial.
const interval = (end) => (cell) => (cell.by_rate ? cell.interval?.[end] ?? null : null);

export const throughput = bySize({
  id: "throughput-by-size",
  title: "Throughput by size",
  says: "Messages that arrived intact at one subscriber, and the same as bytes of payload. Of round trips it is how many went there and back, one at a time unless the configuration says otherwise. Up is better; both axes are logarithmic.",
  metrics: [{ ...field("rate_hz", "messages a second", "rate"), low: interval(0), high: interval(1) }, field("bytes_per_s", "bytes a second", "bytesRate")],
});

export const processor = bySize({
  id: "processor",
  title: "Processor time",
  says: "What a message costs in processor time, all workers together and less what publishers spent waiting for their next instant; or how many processors were in use. Down is better.",
  metrics: [field("cpu_ns_per_message", "for each message", "time"), field("cpu", "processors in use", "ratio")],
});

export const memoryBySubscribers = bySize({
  id: "memory-by-subscribers",
  title: "Memory by subscribers",
  says: "Resident memory at the end of the measurement, of all workers together (pages that they share count in each), and of one subscriber's process.",
  metrics: [field("rss_bytes", "all workers", "bytes"), field("bytes_per_subscriber", "one subscriber", "bytes")],
  along: "subscribers",
});

export const memoryBySize = bySize({
  id: "memory-by-size",
  title: "Memory by size",
  says: "Resident memory at the end of the measurement, of all workers together (pages that they share count in each), and of one subscriber's process.",
  metrics: [field("rss_bytes", "all workers", "bytes"), field("bytes_per_subscriber", "one subscriber", "bytes")],
});

export const switches = bySize({
  id: "context-switches",
  title: "Context switches",
  says: "How often a second a thread had to wait (voluntary) or was made to give way (involuntary). Involuntary ones mean that somebody else wanted the processor.",
  metrics: [field("voluntary_hz", "voluntary", "rate"), field("involuntary_hz", "involuntary", "rate")],
});
