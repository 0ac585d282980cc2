// Finds the measured configurations that meet a reader's wish. The cells of a configuration differ only in size, load and
// subscribers. A wish is compared only with cells measured near it: a rate within a factor of two, a size between two
// measured ones at most 64 times apart, and the same number of subscribers.

const FREE = ["size", "rate", "subscribers"];
const NEAR_RATE = 2;
const WIDEST_GAP = 64;
const MOST_LOSS = 0.01; // with more loss, a configuration does not carry the load
const KEEPS_UP = 0.99;

const ORDER = { holds: 0, fails: 1, unmeasured: 2 };

const rank = (quantile) => (/^p\d/.test(quantile) ? Number(quantile.slice(1)) : NaN); // "p99.9": 99.9

// wish: {size, quantile} and, where the reader named them, {rate, subscribers, deadline (ns), budget (processors)}.
// Returns a row for each configuration: {label, status, value, quantile, cpu, margin, between, reasons, cells, meanwhile}.
// Rows that hold come first, the fastest first. quantile: the quantile of `value`, which is the highest known one if the
// wished one is unknown. meanwhile: the figure of messages one at a time, if nothing was measured near the rate.
export function decide(cells, wish) {
  const rows = [...configurations(cells, wish.rate === undefined)].map((each) => judged(each, wish));
  return rows.sort((a, b) => ORDER[a.status] - ORDER[b.status] || (a.value ?? Infinity) - (b.value ?? Infinity));
}

function configurations(cells, byLoad) {
  const groups = new Map();
  for (const cell of cells) {
    const key = JSON.stringify([
      cell.run,
      cell.kind,
      byLoad ? cell.f.rate : null,
      Object.entries(cell.f).filter(([name]) => !FREE.includes(name)),
    ]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(cell);
  }
  return groups.values();
}

function judged(cells, wish) {
  const row = {
    status: "holds",
    value: null,
    quantile: wish.quantile,
    meanwhile: null,
    cpu: null,
    margin: null,
    between: null,
    reasons: [],
    cells: cells.map((each) => each.i),
    first: cells[0],
    series: [...new Set(cells.map((each) => each.series))],
  };
  const settle = (status, reason) => {
    if (status === "fails" || row.status === "holds") row.status = status;
    row.reasons.push(reason);
  };
  const measured = cells.filter((each) => !each.failed);
  if (measured.length === 0) {
    settle("unmeasured", "failed when it was measured");
    return row;
  }
  const subscribed = measured.filter((each) => (each.f.subscribers ?? 1) === (wish.subscribers ?? each.f.subscribers ?? 1));
  if (subscribed.length === 0) {
    settle("unmeasured", { measured: "subscribers", levels: distinct(measured.map((each) => each.f.subscribers ?? 1)) });
    return row;
  }
  const points = subscribed.flatMap((cell) => pointsOf(cell, wish));
  const near = wish.rate === undefined ? points : byRate(points, wish, settle);
  if (row.status === "unmeasured")
    row.meanwhile =
      bySize(
        points.filter((each) => each.isClosed),
        wish.size,
      )?.value ?? null;
  const found = near.length ? bySize(near, wish.size) : null;
  if (near.length && !found) settle("unmeasured", { measured: "size", levels: distinct(near.map((each) => each.size)) });
  if (!found) return row;

  Object.assign(row, {
    value: found.value,
    quantile: found.quantile,
    cpu: found.cpu,
    between: found.between,
    cells: found.cells,
  });
  if (found.loss > MOST_LOSS) settle("fails", { loses: found.loss });
  if (found.value === null) settle("unmeasured", "no percentile has enough samples");
  else if (wish.deadline !== undefined) {
    row.margin = 1 - found.value / wish.deadline;
    if (found.value > wish.deadline) settle("fails", { late: found.value / wish.deadline - 1 });
  }
  if (wish.budget !== undefined) {
    if (found.cpu === null) settle("unmeasured", "its processor time was not measured");
    else if (found.cpu > wish.budget) settle("fails", { processors: found.cpu });
  }
  return row;
}

// The wished quantile, or the highest known one below it: a percentile with too few samples has no value.
function quantileOf(latency, wished) {
  if (wished === "max") return ["max", latency?.max ?? null];
  const lower = Object.keys(latency ?? {}).filter((each) => rank(each) <= rank(wished) && latency[each] > 0);
  const known = lower.sort((a, b) => rank(a) - rank(b)).at(-1);
  return known ? [known, latency[known]] : [wished, null];
}

const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

// The measured points of a cell: the cell itself, or the steps of a rising load.
function pointsOf(cell, wish) {
  const [quantile, value] = quantileOf(cell.latency, wish.quantile);
  const own = {
    size: cell.f.size,
    load: cell.offered_hz ?? cell.sent_hz ?? cell.rate_hz ?? null,
    received: cell.rate_hz ?? null,
    loss: cell.loss ?? 0,
    value,
    quantile,
    cpu: cell.cpu ?? null,
    cells: [cell.i],
    isClosed: cell.kind === "round_trip" && cell.f.rate === "max",
  };
  if (wish.rate === undefined || !(wish.quantile === "p50" || wish.quantile === "p99")) return [own];
  const steps = (cell.steps ?? [])
    .filter((each) => each.received_hz)
    .map((each) => ({
      size: cell.f.size,
      load: each.offered_hz ?? each.sent_hz,
      received: each.received_hz,
      loss: each.lost ?? 0,
      value: each[`${wish.quantile}_ns`] ?? null,
      quantile: wish.quantile,
      cpu: null,
      cells: [cell.i],
    }));
  return [own, ...steps];
}

// For each size: the point whose load is nearest to the wished one, or why no point is near.
function byRate(points, wish, settle) {
  const known = points.filter((each) => each.load && each.received);
  const capable = known.filter((each) => each.size >= wish.size && each.received >= KEEPS_UP * wish.rate);
  const most = Math.max(0, ...known.filter((each) => each.size === wish.size).map((each) => each.received));
  const away = (each) => Math.abs(Math.log(each.load / wish.rate));
  const near = known.filter((each) => away(each) <= Math.log(NEAR_RATE) * 1.0001);
  if (capable.length === 0) {
    // A rate is out of reach only if more was sent than wished, and less than wished was received.
    const tried = known.some(
      (each) => each.size <= wish.size && each.load >= wish.rate && each.received < KEEPS_UP * wish.rate,
    );
    if (tried) settle("fails", { most: most || Math.max(...known.map((each) => each.received)) });
    else settle("unmeasured", { measured: "rate", levels: distinct(known.map((each) => each.load)) });
  } else if (near.length === 0) {
    settle("unmeasured", { measured: "rate", levels: distinct(known.map((each) => each.load)) });
  }
  const nearest = new Map();
  for (const each of near)
    if (!nearest.has(each.size) || away(each) < away(nearest.get(each.size))) nearest.set(each.size, each);
  return [...nearest.values()];
}

// The point of that size, or one interpolated between its neighbours on logarithmic axes; null: none is near.
function bySize(points, size) {
  const exact = points.find((each) => each.size === size);
  if (exact) return { ...exact, between: null };
  const sorted = [...points].sort((a, b) => a.size - b.size);
  const above = sorted.find((each) => each.size > size);
  const below = sorted.findLast((each) => each.size < size);
  if (!above || !below || above.size / below.size > WIDEST_GAP) return null;
  const part = Math.log(size / below.size) / Math.log(above.size / below.size);
  const between = (a, b) => (a > 0 && b > 0 ? Math.exp(Math.log(a) + part * Math.log(b / a)) : null);
  return {
    value: between(below.value, above.value),
    quantile: rank(above.quantile) < rank(below.quantile) ? above.quantile : below.quantile,
    cpu: between(below.cpu, above.cpu),
    loss: Math.max(below.loss, above.loss),
    between: [below.size, above.size],
    cells: [...below.cells, ...above.cells],
  };
}
