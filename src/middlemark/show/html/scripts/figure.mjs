// A figure with caption, options, drawing, notes, table, downloads and link. It is drawn when it becomes visible.
import * as d3 from "d3";
import { csv, download, element, table } from "./table.mjs";

// spec: {id, title, says, options(context) → [{key, label, values: [[value, text]…], initial}],
// rows(context) → {rows, columns, notes}, draw(rows, context, width) → an SVG or null}.
// context: {data, cells, selection, styles, option(key)}.
export class Figure {
  constructor(spec, context, changed) {
    Object.assign(this, { spec, context, changed, isStale: true, isSeen: false, rows: [], columns: [], drawnWidth: 0 });
    this.controls = element("div", { class: "options" });
    this.plot = element("div", { class: "plot" });
    this.legend = element("ul", { class: "legend", "aria-hidden": "true" });
    this.notes = element("p", { class: "notes", "aria-live": "polite" });
    this.tableAt = element("div");
    this.details = element("details", { ontoggle: () => this.fillTable() }, element("summary", {}, "Table"), this.tableAt);
    this.link = element("a", { href: `#${spec.id}`, class: "link" }, "Link to this view");
    const name = element("span", { class: "unseen" }, `: ${spec.title}`);
    const button = (text, onclick) => element("button", { type: "button", onclick }, text, name.cloneNode(true));
    this.link.append(name.cloneNode(true));
    this.savers = [button("CSV", () => this.saveCsv()), button("SVG", () => this.saveSvg())];
    const actions = element("div", { class: "actions" }, ...this.savers, this.link);
    const caption = element("figcaption", {}, element("h3", {}, spec.title), element("p", {}, spec.says));
    this.node = element(
      "figure",
      { id: spec.id, tabindex: "-1" },
      caption,
      this.controls,
      this.plot,
      this.legend,
      this.notes,
      this.details,
      actions,
    );
  }

  // Returns the value of an option: the reader's choice if it is available, else the initial or first value.
  option(key) {
    const option = this.known?.find((each) => each.key === key);
    const chosen = this.context.selection.options.get(`${this.spec.id}.${key}`);
    if (!option) return chosen;
    if (option.values.some(([value]) => value === chosen)) return chosen;
    return option.values.some(([value]) => value === option.initial) ? option.initial : option.values[0]?.[0];
  }

  markStale() {
    this.isStale = true;
    this.tableIsStale = true;
    this.node.dataset.stale = "";
  }

  isOnScreen() {
    if (!this.isSeen) return false;
    const { top, bottom } = this.plot.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  }

  drawIfDue(force = false) {
    if (this.isStale && (this.isSeen || force)) this.draw();
  }

  draw(width = this.plot.clientWidth || 900) {
    this.isStale = false;
    delete this.node.dataset.stale;
    this.drawnWidth = width;
    const context = { ...this.context, cells: this.context.cells(), option: (key) => this.option(key) };
    this.known = this.spec.options?.(context) ?? [];
    this.showOptions();
    const { rows, columns, notes = [], absent } = this.spec.rows(context);
    Object.assign(this, { rows, columns });
    const drawing = rows.length ? this.spec.draw(rows, context, width) : null;
    this.plot.replaceChildren(
      drawing?.svg ?? element("p", { class: "absent" }, absent ?? "No selected configuration has this figure."),
    );
    drawing?.svg.setAttribute("role", "img");
    drawing?.svg.setAttribute("aria-label", `${this.spec.title}. ${rows.length} rows: the table below has them.`);
    // Plot labels groups that have no role, but a screen reader reads only the name of the picture.
    for (const group of drawing?.svg.querySelectorAll("g[aria-label]") ?? []) {
      group.dataset.marks = group.getAttribute("aria-label");
      group.removeAttribute("aria-label");
    }
    this.showLegend(drawing?.legend ?? []);
    for (const [at, each] of this.savers.entries()) each.disabled = rows.length === 0 || (at === 1 && !drawing?.svg);
    performance.mark(`drawn ${this.spec.id}`);
    this.notes.textContent = [...notes, ...(drawing?.notes ?? [])].join(" ");
    this.link.setAttribute("href", this.context.selection.hash(this.spec.id));
    if (this.details.open) requestAnimationFrame(() => setTimeout(() => this.fillTable()));
    else this.tableIsStale = true;
  }

  showOptions() {
    const signature = JSON.stringify(this.known.map(({ key, values }) => [key, values]));
    if (signature !== this.shownOptions) {
      this.shownOptions = signature;
      this.controls.replaceChildren(
        ...this.known
          .filter((each) => each.values.length > 1)
          .map(({ key, label, values }) => {
            const choices = values.map(([value, text]) => element("option", { value }, text));
            const select = element(
              "select",
              { onchange: (event) => this.choose(key, event.target.value), "data-key": key },
              ...choices,
            );
            return element("label", {}, `${label} `, select);
          }),
      );
    }
    for (const select of this.controls.querySelectorAll("select")) select.value = this.option(select.dataset.key);
  }

  choose(key, value) {
    this.context.selection.options.set(`${this.spec.id}.${key}`, value);
    this.markStale();
    this.drawIfDue(true);
    this.changed(this);
  }

  showLegend(items) {
    this.legend.replaceChildren(
      ...items.map(({ name, colour, symbol, dash, swatch }) =>
        element("li", {}, swatch ? swatchOf(colour) : symbolOf(colour, symbol, dash), document.createTextNode(` ${name}`)),
      ),
    );
    this.legend.hidden = items.length === 0;
  }

  fillTable() {
    if (!this.details.open) return;
    this.drawIfDue(true); // with a screen reader, a table may be opened that was never visible
    if (this.tableIsStale || !this.tableAt.firstChild)
      this.tableAt.replaceChildren(table(this.columns, this.rows, this.spec.title));
    this.tableIsStale = false;
  }

  saveCsv() {
    this.drawIfDue(true);
    download(`${this.spec.id}.csv`, "text/csv;charset=utf-8", csv(this.columns, this.rows));
  }

  saveSvg() {
    this.drawIfDue(true);
    const drawn = this.plot.querySelector("svg");
    download(
      `${this.spec.id}.svg`,
      "image/svg+xml;charset=utf-8",
      standalone(
        drawn,
        this.spec.title,
        [...this.legend.children].map((each) => each.textContent.trim()),
      ),
    );
  }
}

const XMLNS = "http://www.w3.org/2000/svg";

export function vector(name, attributes) {
  const made = document.createElementNS(XMLNS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function symbolOf(colour, symbol, dash) {
  const svg = vector("svg", { width: 28, height: 12, viewBox: "-14 -6 28 12" });
  svg.append(
    vector("line", { x1: -13, x2: 13, y1: 0, y2: 0, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash ?? "" }),
  );
  if (symbol)
    svg.append(
      vector("path", { d: d3.symbol(d3[`symbol${symbol[0].toUpperCase()}${symbol.slice(1)}`], 40)(), fill: colour }),
    );
  return svg;
}

function swatchOf(colour) {
  const svg = vector("svg", { width: 14, height: 12, viewBox: "0 0 14 12" });
  svg.append(vector("rect", { width: 14, height: 12, fill: colour, stroke: "currentColor", "stroke-opacity": 0.4 }));
  return svg;
}

// Returns the drawing as a standalone file, with its colours, a background and its title.
export function standalone(drawn, title, names) {
  const copy = drawn.cloneNode(true);
  const styles = getComputedStyle(document.documentElement);
  const resolved = (text) =>
    text.replace(/var\((--[\w-]+)\)/g, (_, name) => styles.getPropertyValue(name).trim() || "currentColor");
  for (const node of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name, value } of [...node.attributes])
      if (value.includes("var(")) node.setAttribute(name, resolved(value));
    if (node.localName === "style") node.textContent = resolved(node.textContent);
  }
  copy.setAttribute("xmlns", XMLNS);
  copy.setAttribute("style", `color: ${styles.getPropertyValue("--ink").trim()}; font-family: system-ui, sans-serif`);
  const ground = vector("rect", { width: "100%", height: "100%", fill: styles.getPropertyValue("--surface").trim() });
  const named = vector("title", {});
  named.textContent = title;
  const described = vector("desc", {});
  described.textContent = names.join("; ");
  copy.prepend(named, described, ground);
  return new XMLSerializer().serializeToString(copy);
}
