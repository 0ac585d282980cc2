// A workload as a graph: nodes in layers from left to right, and its edges, coloured by the part of the deadline that their
// p99 takes. One small picture for each middleware.
import { columnOf } from "./answer.mjs";
import { vector } from "./figure.mjs";
import { element } from "./table.mjs";

const MOST_NAMED = 24; // with more nodes, names would overlap
const [BOX, GAP, ROW] = [92, 54, 34];

// Returns the layer of each node: one more than that of its farthest source. An edge that closes a cycle is left out.
export function layersOf(nodes, edges) {
  const from = new Map(nodes.map((node) => [node, edges.filter((each) => each.from === node).map((each) => each.to)]));
  const layer = new Map();
  const active = new Set();
  const order = [];
  const visit = (node) => {
    if (layer.has(node)) return;
    layer.set(node, 0);
    active.add(node);
    for (const next of from.get(node) ?? []) if (!active.has(next)) visit(next);
    active.delete(node);
    order.unshift(node);
  };
  nodes.forEach(visit);
  const place = new Map(order.map((node, index) => [node, index]));
  for (const node of order)
    for (const next of from.get(node) ?? [])
      if (place.get(next) > place.get(node)) layer.set(next, Math.max(layer.get(next), layer.get(node) + 1));
  return layer;
}

// Returns the position of each node, ordered within its layer by the mean position of its neighbours.
function placed(nodes, edges) {
  const layer = layersOf(nodes, edges);
  const columns = [...Array(Math.max(...layer.values()) + 1)].map((_, index) =>
    nodes.filter((each) => layer.get(each) === index),
  );
  const rank = new Map();
  const keep = () =>
    columns.forEach((column) => column.forEach((node, index) => rank.set(node, index - (column.length - 1) / 2)));
  keep();
  for (let sweep = 0; sweep < 4; sweep++) {
    for (const column of columns) {
      const mean = (node) => {
        const near = edges
          .filter((each) => each.from === node || each.to === node)
          .map((each) => rank.get(each.from === node ? each.to : each.from));
        return near.length ? near.reduce((sum, each) => sum + each, 0) / near.length : 0;
      };
      column.sort((a, b) => mean(a) - mean(b));
    }
    keep();
  }
  const tallest = Math.max(...columns.map((each) => each.length));
  const at = new Map();
  columns.forEach((column, x) =>
    column.forEach((node) => at.set(node, { x: x * (BOX + GAP), y: (rank.get(node) + (tallest - 1) / 2) * ROW })),
  );
  return { at, width: columns.length * (BOX + GAP) - GAP, height: tallest * ROW };
}

const CLASSES = [
  ["var(--share-0)", "up to half of the deadline"],
  ["var(--share-1)", "up to the deadline"],
  ["var(--share-2)", "beyond the deadline, or lost"],
  ["var(--quiet)", "no deadline, or unknown"],
];

const classOf = ({ share, state }) =>
  state === "fails" ? 2 : share === undefined ? 3 : share <= 0.5 ? 0 : share <= 1 ? 1 : 2;

function graph(entry, name) {
  const nodes = [...new Set(entry.edges.flatMap((each) => [each.from, each.to]))];
  const { at, width, height } = placed(nodes, entry.edges);
  const svg = vector("svg", {
    viewBox: `-4 -12 ${width + 8} ${height + 16}`,
    role: "img",
    "aria-label": `${name}: ${entry.state}${entry.first ? `, first ${entry.first}` : ""}`,
    style: `max-width: ${width + 8}px`,
  });
  const pairs = new Map();
  for (const each of entry.edges) {
    const key = `${each.from}\n${each.to}`;
    const worst = pairs.get(key);
    if (!worst || classOf(each) % 3 > classOf(worst) % 3) pairs.set(key, each); // the worst of several topics is drawn
  }
  const named = nodes.length <= MOST_NAMED;
  const title = (of, text) => {
    const made = vector("title", {});
    made.textContent = text;
    of.append(made);
  };
  const failing = ({ topic, to }) => entry.first === `${topic} → ${to}`;
  for (const each of [...pairs.values()].sort((a, b) => classOf(a) - classOf(b))) {
    const [a, b] = [at.get(each.from), at.get(each.to)];
    const forward = b.x > a.x;
    const [x1, x2] = forward ? [a.x + BOX, b.x] : [a.x + BOX / 2, b.x + BOX / 2];
    const [y1, y2] = forward ? [a.y + 10, b.y + 10] : [a.y + 20, b.y + 20];
    const bend = forward ? (x2 - x1) / 2 : 0;
    const curve = forward
      ? `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`
      : `M${x1},${y1}Q${(x1 + x2) / 2},${Math.max(y1, y2) + 24} ${x2},${y2}`;
    const path = vector("path", {
      d: curve,
      fill: "none",
      stroke: CLASSES[classOf(each)][0],
      "stroke-width": failing(each) ? 5 : 2.5,
      "stroke-dasharray": classOf(each) === 3 ? "3 3" : "",
    });
    title(
      path,
      `${each.topic}: ${each.from} → ${each.to}${each.share === undefined ? "" : `, p99 at ${each.share} × its deadline`}`,
    );
    svg.append(path);
  }
  for (const node of nodes) {
    const { x, y } = at.get(node);
    const box = vector("rect", { x, y, width: BOX, height: 20, rx: 4, fill: "var(--ground)", stroke: "var(--quiet)" });
    title(box, node);
    svg.append(box);
    if (!named) continue;
    const text = vector("text", {
      x: x + BOX / 2,
      y: y + 14,
      "text-anchor": "middle",
      "font-size": 11,
      fill: "var(--ink)",
    });
    text.textContent = node.length > 15 ? `${node.slice(0, 8)}…${node.slice(-6)}` : node;
    svg.append(text);
  }
  return svg;
}

// Draws the graphs of every workload into its place, at the column that the reader chooses.
export function robots(context, changed) {
  for (const [index, workload] of context.data.workloads.entries()) {
    const place = document.getElementById(`robot-${index}`);
    const show = (column) => {
      const entries = workload.lines
        .map((line) => [line, line.entries[column]])
        .filter(([line, entry]) => entry?.edges && !line.is_raw_transport);
      const buttons = workload.columns.map((name, at) =>
        element(
          "button",
          {
            type: "button",
            class: "chip",
            "aria-pressed": String(at === column),
            onclick: () => (show(at), changed(index, at), place.querySelector("[aria-pressed=true]").focus()),
          },
          name,
        ),
      );
      place.replaceChildren(
        ...(buttons.length > 1
          ? [element("div", { class: "options", role: "group", "aria-label": "Load" }, ...buttons)]
          : []),
        element(
          "div",
          { class: "robots" },
          ...entries.map(([line, entry]) =>
            element(
              "div",
              { class: "robot" },
              element(
                "h3",
                {},
                element("i", {
                  style: `background-color: ${context.styles.of(context.data.cells[entry.row].series).colour}`,
                  "aria-hidden": "true",
                }),
                line.name,
                " ",
                element("b", { class: `mark ${entry.state}` }, entry.state),
              ),
              graph(entry, line.name),
              element(
                "p",
                { class: "notes" },
                entry.first ? `fails first: ${entry.first}` : `worst edge: ${entry.share} × its deadline`,
              ),
            ),
          ),
        ),
        element(
          "ul",
          { class: "legend" },
          ...CLASSES.map(([colour, text]) =>
            element("li", {}, element("i", { style: `background-color: ${colour}` }), ` ${text}`),
          ),
        ),
      );
    };
    show(index === 0 ? columnOf(context) : 0);
  }
}
