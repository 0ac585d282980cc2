// Names of cells and series, of the factors that vary.

// What all cells of one line share: every varying factor but those along the axis.
export function lineName(cell, factors, along) {
  if (along === "size" && cell.series) return cell.series;
  const parts = [];
  for (const { name, levels, shown, label } of factors) {
    if (name === along || cell.f[name] === undefined) continue;
    parts.push(told({ name, levels, shown, label }, cell));
  }
  return `${parts.slice(0, 2).join(" ")}${parts.length > 2 ? ` · ${parts.slice(2).join(" · ")}` : ""}`;
}

// A level in words: a bare number says nothing.
function told(factor, cell) {
  const written = levelName(factor, cell.f[factor.name]);
  const isBare = factor.name === "adapter" || factor.name === "transport" || Number.isNaN(Number(written));
  return isBare ? written : `${factor.label} ${written}`;
}

export function levelName(factor, level) {
  const index = factor.levels.findIndex((each) => JSON.stringify(each) === JSON.stringify(level));
  return index < 0 ? String(level) : factor.shown[index];
}

export const KINDS = { round_trip: "round trip", one_way: "one way" };

// What makes another experiment of it, as the first screen tells them apart.
export const experimentOf = (cell, data) => data.experiment.map((factor) => told(factor, cell)).join(", ");

// The label of a line. Where only the best transport of each middleware is shown, the raw transports are one line, the baseline.
export const nameOf = (cell, context, along) =>
  cell.is_raw_transport && context.isBest()
    ? ["baseline", experimentOf(cell, context.data)].filter(Boolean).join(" · ")
    : lineName(cell, context.data.factors, along);
