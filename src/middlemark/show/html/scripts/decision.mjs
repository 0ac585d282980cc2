// A form for the reader's wish, and a figure of the measured configurations that meet it.
import * as Plot from "@observablehq/plot";
import { decide } from "./choice.mjs";
import { KINDS, lineName } from "./labels.mjs";
import { usualSize } from "./ranges.mjs";
import { bands, differing, fitted, logAxis, plotted, roomFor, tip } from "./style.mjs";
import { columnsOf, element } from "./table.mjs";
import { bytes, plain, rate, readNumber, readRate, readSize, readTime, share, text, time } from "./words.mjs";

const MOST = 30;
const FIELDS = [
  { key: "size", label: "Message size", hint: "1 KiB", read: readSize, wrong: "a size like 64, 4k or 1 MiB" },
  { key: "rate", label: "Messages a second", hint: "e.g. 1000", read: readRate, wrong: "a rate like 100 or 10k" },
  { key: "subscribers", label: "Subscribers", hint: "1", read: readNumber, wrong: "a whole number" },
  { key: "processes", label: "Processes", hint: "any", read: readNumber, wrong: "a whole number" },
  { key: "deadline", label: "Deadline", hint: "e.g. 500 µs", read: readTime, wrong: "a time like 500 µs or 2 ms" },
  { key: "budget", label: "Processors", hint: "e.g. 0.5", read: readNumber, wrong: "a number like 0.5" },
];

const STATUS = { holds: "holds", fails: "does not hold", unmeasured: "never measured near there" };
const SYMBOLS = { holds: "circle", fails: "cross", unmeasured: "square" };

// The form above the figure; the selection keeps its values.
export function decisionForm(place, selection, usualSize, changed) {
  const inputs = FIELDS.map(({ key, label, hint, read, wrong }) => {
    const id = `decide-${key}`;
    const problem = element("span", { class: "problem", id: `${id}-problem`, "aria-live": "polite" });
    const input = element("input", {
      id,
      type: "text",
      autocomplete: "off",
      placeholder: key === "size" ? bytes(usualSize) : hint,
      "aria-describedby": `${id}-problem`,
    });
    input.addEventListener("input", () => {
      selection.options.set(`decide.${key}`, input.value);
      validate();
      changed();
    });
    const validate = () => {
      const isWrong = read(input.value) === null;
      input.setAttribute("aria-invalid", String(isWrong));
      problem.textContent = isWrong ? wrong : "";
    };
    return {
      node: element("div", {}, element("label", { for: id }, label), input, problem),
      show: () => {
        input.value = selection.options.get(`decide.${key}`) ?? "";
        validate();
      },
    };
  });
  place.addEventListener("submit", (event) => event.preventDefault());
  place.replaceChildren(...inputs.map((each) => each.node));
  return { show: () => inputs.forEach((each) => each.show()) };
}

// Returns the typed values; null for a value that cannot be read.
function wishOf(context) {
  const typed = (key, read) => read(context.selection.options.get(`decide.${key}`) ?? "");
  const wish = Object.fromEntries(FIELDS.map(({ key, read }) => [key, typed(key, read)]));
  return {
    ...wish,
    size: wish.size === undefined ? usualSize(context.data) : wish.size,
    subscribers: Math.round(wish.subscribers ?? 1),
    quantile: context.option("quantile"),
  };
}

// Returns the highest percentile that most cells have: with few samples there is no p99.
function usualQuantile(cells) {
  const measured = cells.filter((each) => !each.is_raw_transport && !each.failed);
  return (
    ["p99", "p90"].find((name) => measured.filter((each) => each.latency?.[name] > 0).length * 2 >= measured.length) ?? "p50"
  );
}

// Returns the command that measures a wish for which there are no results.
function command(wish, rows) {
  const word = (name, value) => (value === undefined ? "" : ` --${name} ${value}`);
  const size = word("size", wish.size);
  const more = `${word("subscribers", wish.subscribers > 1 ? wish.subscribers : undefined)}${word("processes", wish.processes)}`;
  if (wish.rate !== undefined) {
    const deadline = word("deadline", wish.deadline && `${wish.deadline}ns`);
    return `middlemark which${size}${word("rate", wish.rate)}${more}${deadline}${word("cpu", wish.budget)}`;
  }
  const adapters = word("adapter", [...new Set(rows.map((row) => row.first.f.adapter))].join(","));
  const pattern = wish.subscribers > 1 ? word("pattern", "stream") : "";
  return `middlemark run${adapters}${size}${pattern}${more} --trials 10`;
}

// Returns a reason in words.
function reason(each) {
  if (typeof each === "string") return each;
  if (each.measured === "size") return `measured at ${each.levels.map(bytes).join(", ")}`;
  if (each.measured === "rate")
    return `measured at ${each.levels.length ? each.levels.map(rate).join(", ") : "no known rate"}`;
  if (each.measured === "subscribers") return `measured with ${each.levels.join(", ")} subscribers`;
  if (each.loses !== undefined) return `loses ${share(each.loses)}`;
  if (each.late !== undefined) return `${share(each.late)} over the deadline`;
  if (each.most !== undefined) return `received at most ${rate(each.most)}`;
  return `takes ${plain(each.processors)} processors`;
}

function explained(row, wish) {
  const parts = row.reasons.map(reason);
  if (row.value !== null && row.quantile !== wish.quantile)
    parts.push(`${row.quantile}: ${wish.quantile} has too few samples`);
  if (row.meanwhile) parts.push("one at a time");
  if (row.status === "holds" && row.margin !== null) parts.push(`${share(row.margin)} of the deadline to spare`);
  if (row.status === "holds" && wish.budget !== undefined) parts.push(`${plain(wish.budget - row.cpu)} processors to spare`);
  if (row.between) parts.push(`interpolated between ${bytes(row.between[0])} and ${bytes(row.between[1])}`);
  return parts.join("; ");
}

export const decision = {
  id: "decision",
  title: "Configurations that meet the requirements",
  says:
    "A full mark was measured. A hollow mark is interpolated between two measured sizes, has a lower " +
    "percentile, or, if nothing was measured near the rate, is for messages one at a time. A rate counts as " +
    "measured within a factor of two; there is no interpolation between sizes that are more than 64 times " +
    "apart. “Held at” names the percentile by which a row is judged.",
  has: (data) => data.cells.some((each) => !each.failed),
  lacks: () => "every trial failed",
  options(context) {
    const kinds = [...new Set(context.cells.map((each) => each.kind))];
    const known = [...context.data.quantiles, "max"].filter((name) => context.cells.some((each) => each.latency?.[name] > 0));
    return [
      { key: "quantile", label: "Held at", values: known.map((each) => [each, each]), initial: usualQuantile(context.cells) },
      { key: "kind", label: "Deadline of a", values: kinds.map((kind) => [kind, KINDS[kind] ?? kind]), initial: kinds[0] },
      {
        key: "raw-transports",
        label: "Raw transports",
        values: [
          ["", "left out"],
          ["shown", "shown"],
        ],
        initial: context.cells.every((each) => each.is_raw_transport) ? "shown" : "",
      },
    ];
  },
  rows(context) {
    const wish = wishOf(context);
    const wrong = FIELDS.find(({ key }) => wish[key] === null);
    if (wrong) return { rows: [], columns: [], absent: `${wrong.label} cannot be read: write ${wrong.wrong}.` };
    const isAsked = (each) =>
      wish.processes === undefined || each.f.processes === undefined || each.f.processes === wish.processes;
    const cells = context.cells.filter(
      (each) =>
        each.kind === context.option("kind") && (context.option("raw-transports") || !each.is_raw_transport) && isAsked(each),
    );
    const decided = decide(cells, wish);
    const factors = shownFactors(
      decided.map((row) => row.first),
      context.data.factors,
      wish,
    );
    const rows = decided.map((row) => ({
      ...row,
      label: configurationName(row, factors),
      verdict: STATUS[row.status],
      latency_ns: row.value ?? row.meanwhile,
      quantile: row.quantile,
      trust: row.cells.map((index) => context.data.cells[index].doubt).find(Boolean) ?? "",
      processors: row.cpu,
      how: row.value === null ? (row.meanwhile ? "one at a time" : "") : row.between ? "interpolated" : "measured",
      why: explained(row, wish),
      wish,
    }));
    const count = (status) => rows.filter((row) => row.status === status).length;
    const columns = columnsOf(
      ["label", "configuration"],
      ["verdict", "verdict"],
      ["latency_ns", "latency", time],
      ["quantile", "at"],
      ["processors", "processors", plain],
      ["how", "how known", text],
      ["trust", "doubt", text],
      ["why", "why", text],
    );
    const asked = [
      bytes(wish.size),
      wish.rate && rate(wish.rate),
      `${wish.subscribers} subscriber${wish.subscribers === 1 ? "" : "s"}`,
      wish.processes && `${plain(wish.processes)} processes`,
      wish.deadline && `${wish.quantile} within ${time(wish.deadline)}`,
      wish.budget && `${plain(wish.budget)} processors`,
    ];
    const notes = [
      `${asked.filter(Boolean).join(", ")}: ${count("holds")} meet the requirements, ${count("fails")} do not, ` +
        `${count("unmeasured")} were never measured near this load (the table has the reasons).`,
    ];
    const lower = [
      ...new Set(rows.filter((row) => row.value !== null && row.quantile !== wish.quantile).map((row) => row.quantile)),
    ];
    if (lower.length)
      notes.push(
        `Some have too few samples for ${wish.quantile}: they are judged by ${lower.join(" or ")}, their highest percentile.`,
      );
    const unmeasured = rows.filter((row) => row.status === "unmeasured");
    if (unmeasured.length) notes.push(`To measure these: ${command(wish, unmeasured)}`);
    return {
      rows,
      columns,
      notes,
      absent:
        wish.processes === undefined
          ? "Nothing was measured for this selection."
          : `Nothing was measured with ${plain(wish.processes)} processes in this selection.`,
    };
  },
  draw(rows, context, width) {
    const drawn = rows.filter((row) => row.latency_ns > 0).slice(0, MOST);
    if (drawn.length === 0) return null;
    const { deadline } = rows[0].wish;
    const [short] = differing(drawn.map((row) => row.label));
    const left = roomFor(
      drawn.map((row) => short(row.label)),
      width,
    );
    const names = new Map(drawn.map((row, index) => [index, short(row.label)]));
    const points = drawn.map((row, index) => ({ ...row, index }));
    const values = [...points.map((row) => row.latency_ns), deadline];
    const x = logAxis(values.filter(Boolean), time, null, { most: Math.max(3, Math.floor((width - left - 210) / 60)) });
    const right = width > 620 ? 210 : 24;
    const spare = (row) =>
      fitted(
        [
          time(row.latency_ns),
          row.trust && `○ ${row.trust}`,
          row.status !== "holds" ? row.why || row.verdict : row.margin === null ? "" : `${share(row.margin)} to spare`,
        ]
          .filter(Boolean)
          .join(", "),
        right,
      );
    const frame = { width, height: points.length * 24 + 66, marginLeft: left, marginRight: right, marginTop: 26 };
    const svg = plotted(
      frame,
      {
        x,
        y: bands(
          points.map((row) => row.index),
          names,
          left,
        ),
      },
      [
        deadline ? Plot.ruleX([deadline], { stroke: "var(--bad)", strokeWidth: 1.5 }) : null,
        deadline
          ? Plot.text([deadline], {
              x: (each) => each,
              frameAnchor: "top",
              dy: -14,
              text: () => "deadline",
              fill: "var(--bad)",
            })
          : null,
        Plot.ruleY(points, { y: "index", x1: x.scale.domain[0], x2: "latency_ns", stroke: "var(--line)" }),
        Plot.dot(points, {
          x: "latency_ns",
          y: "index",
          symbol: (row) => SYMBOLS[row.status],
          stroke: (row) => colourOf(row),
          fill: (row) =>
            row.between || row.value === null || row.quantile !== row.wish.quantile ? "var(--surface)" : colourOf(row),
          r: 5,
          strokeWidth: 1.6,
        }),
        right > 100
          ? Plot.text(points, {
              y: "index",
              frameAnchor: "right",
              dx: right - 6,
              textAnchor: "end",
              text: spare,
              fill: "var(--ink)",
            })
          : null,
        tip({
          data: points,
          at: { x: "latency_ns", y: "index" },
          title: (row) => `${row.label}\n${row.verdict}: ${time(row.latency_ns)}${row.why ? `\n${row.why}` : ""}`,
        }),
      ],
    );
    const legend = [...new Set(points.map((row) => row.status))].map((status) => ({
      name: STATUS[status],
      symbol: SYMBOLS[status],
      colour: colourOf({ status }),
    }));
    return { svg, legend, notes: rows.length > MOST ? [`${MOST} of ${rows.length} are drawn.`] : [] };
  },
};

const colourOf = ({ status }) => ({ holds: "var(--good)", fails: "var(--bad)", unmeasured: "var(--quiet)" })[status];

// Adapter and transport, and the other factors in which the configurations differ, without those of the wish.
function shownFactors(cells, factors, wish) {
  const free = new Set(["size", "subscribers", ...(wish.rate === undefined ? [] : ["rate"])]);
  const always = new Set(["adapter", "transport"]);
  const varies = ({ name }) => new Set(cells.map((cell) => JSON.stringify(cell.f[name]))).size > 1;
  return factors.filter((each) => !free.has(each.name) && (always.has(each.name) || varies(each)));
}

const configurationName = (row, factors) => (row.series.length === 1 ? row.series[0] : lineName(row.first, factors, null));
