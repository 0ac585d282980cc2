// The reader's selection: levels of factors, and options of figures. The address keeps it after the #, for links.

// levels: factor → a set of indices into its levels; other factors are not filtered. options: key → text.
export class Selection {
  constructor(factors) {
    this.factors = factors;
    this.levels = new Map();
    this.options = new Map();
    this.at = "";
  }

  // Sets the levels of a factor that are shown; all levels, or none, means no filter.
  choose(factor, indices) {
    const all = this.factors.find((each) => each.name === factor)?.levels.length ?? 0;
    const known = new Set([...indices].filter((each) => Number.isInteger(each) && each >= 0 && each < all));
    if (known.size === 0 || known.size === all) this.levels.delete(factor);
    else this.levels.set(factor, known);
  }

  reset(hasBest) {
    this.levels.clear();
    if (hasBest) this.options.set("transports", "all");
  }

  // Returns the part of the address after the #; `at`: the id of the element to scroll to.
  hash(at = "") {
    const parts = new URLSearchParams();
    for (const [factor, indices] of this.levels) parts.set(`f.${factor}`, [...indices].sort((a, b) => a - b).join("-"));
    for (const [key, value] of this.options) parts.set(`o.${key}`, value);
    parts.set("at", at);
    return `#${parts}`;
  }

  // Reads the selection of a link; false: the address is an ordinary anchor. Unknown names are ignored.
  restore(hash) {
    const parts = new URLSearchParams(hash.replace(/^#/, ""));
    if (!parts.has("at")) return false;
    this.levels.clear();
    this.options.clear();
    for (const [key, value] of parts) {
      if (key.startsWith("f.")) this.choose(key.slice(2), (value.match(/\d+/g) ?? []).map(Number));
      if (key.startsWith("o.")) this.options.set(key.slice(2), value);
    }
    this.at = parts.get("at");
    return true;
  }
}

// For each cell and factor: the index of its level, so that a filter compares small numbers; -1: it has none.
export function indexed(cells, factors) {
  const known = factors.map(({ name, levels }) => [
    name,
    new Map(levels.map((level, index) => [JSON.stringify(level), index])),
  ]);
  return cells.map((cell) => new Map(known.map(([name, levels]) => [name, levels.get(JSON.stringify(cell.f[name])) ?? -1])));
}

// Returns the cells that pass the filters. Adapter and transport do not filter raw transports.
export function filtered(cells, indices, selection, keepRawTransports = true) {
  const filters = [...selection.levels];
  return cells.filter((cell, row) =>
    filters.every(([factor, chosen]) => {
      if (keepRawTransports && cell.is_raw_transport && (factor === "adapter" || factor === "transport")) return true;
      return chosen.has(indices[row].get(factor));
    }),
  );
}
