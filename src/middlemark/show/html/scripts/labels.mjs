// Names of cells and series, of the factors that vary.

// What all cells of one line share: every varying factor but those along the axis.
export function lineName(cell, factors, along) {
  if (along === "size" && cell.series) return cell.series;
  const parts = [];
  for (const { name, levels, shown, label } of factors) {
    if (name === along || cell.f[name] === undefined) continue;
    const written = shown[levels.findIndex((each) => JSON.stringify(each) === JSON.stringify(cell.f[name]))] ?? String(cell.f[name]);
    const bare = name === "adapter" || name === "transport" || Number.isNaN(Number(written));
    parts.push(bare ? written : `${label} ${written}`);
  }
  return `${parts.slice(0, 2).join(" ")}${parts.length > 2 ? ` · ${parts.slice(2).join(" · ")}` : ""}`;
}

export function levelName(factor, level) {
  const index = factor.levels.findIndex((each) => JSON.stringify(each) === JSON.stringify(level));
  return index < 0 ? String(level) : factor.shown[index];
}

export const KINDS = { round_trip: "round trip", one_way: "one way" };
