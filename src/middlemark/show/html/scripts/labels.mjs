// Names of cells and series, made of the factors that vary.

// The name that all cells of a line share: every varying factor without those along the axis.
export function lineName(cell, factors, along) {
  if (along === "size" && cell.series) return cell.series;
  const parts = [];
  for (const { name, levels, shown, label } of factors) {
    if (name === along || cell.f[name] === undefined) continue;
    parts.push(levelText({ name, levels, shown, label }, cell));
  }
  return `${parts.slice(0, 2).join(" ")}${parts.length > 2 ? ` · ${parts.slice(2).join(" · ")}` : ""}`;
}

// A level in words; a number gets the name of its factor.
function levelText(factor, cell) {
  const written = levelName(factor, cell.f[factor.name]);
  const isBare = factor.name === "adapter" || factor.name === "transport" || Number.isNaN(Number(written));
  return isBare ? written : `${factor.label} ${written}`;
}

export function levelName(factor, level) {
  const index = factor.levels.findIndex((each) => JSON.stringify(each) === JSON.stringify(level));
  return index < 0 ? String(level) : factor.shown[index];
}

export const KINDS = { round_trip: "round trip", one_way: "one way" };

// The levels that distinguish a cell's experiment, as on the first screen.
export const experimentOf = (cell, data) => data.experiment.map((factor) => levelText(factor, cell)).join(", ");

// The label of a line. If only the best transport of each middleware is shown, the raw transports are one line, the baseline.
export const nameOf = (cell, context, along) =>
  cell.is_raw_transport && context.isBest()
    ? ["baseline", experimentOf(cell, context.data)].filter(Boolean).join(" · ")
    : lineName(cell, context.data.factors, along);
