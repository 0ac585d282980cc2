// The first screen: selects, a sentence with the verdict, a picture, and a matrix of winners, all from `data.standings`.
import * as Plot from "@observablehq/plot";
import { NARROW, SYMBOLS_OF, logAxis, plotted, tip, widthOf } from "./style.mjs";
import { element } from "./table.mjs";
import { bytes, rate, time, times, us } from "./words.mjs";

const MOST = 18;
const KEY = "answer.at";
const FIGURES = { p50: "p50", p99: "p99" };
const HALO = { stroke: "var(--surface)", strokeWidth: 4 };
const SURE = { best: true, slower: true, equivalent: true, eliminated: true };

const isAlike = (a, b) =>
  a.by === b.by && a.size === b.size && Object.keys(a.levels).every((key) => a.levels[key] === b.levels[key]);
const keysOf = (data) => Object.keys(data.standings[0].levels);
const levelsOf = (standing) =>
  Object.values(standing.levels)
    .filter((each) => each !== "any")
    .join(", ");

// Returns the chosen standing, or the usual one.
function standingOf({ data, selection }) {
  return data.standings[Number(selection.options.get(KEY) ?? data.usual)] ?? data.standings[data.usual];
}

// Returns the figure of the verdict, in ns or messages a second, and the baseline's.
const isByRate = (standing, cells) => standing.by === "p50" && Boolean(cells[standing.places[0].row].by_rate);
const figureOf = (cell, standing) =>
  (standing.by === "p50" && cell.by_rate ? cell.rate_hz : cell.latency?.[standing.by]) ?? null;

// Returns the text beside a figure: the verdict on its rank, or why there is none.
const trustOf = (place, cell) => ({ isSure: SURE[place.standing] === true && !cell.doubt, why: cell.doubt ?? place.why });

export const firstPicture = {
  id: "answer-picture",
  title: "Each middleware at its best transport",
  says: "Left is better.",
  isFixed: true,
  has: (data) => data.standings.length > 0,
  rows(context) {
    const standing = standingOf(context);
    const { cells } = context.data;
    const baseline = standing.baseline === undefined ? null : cells[standing.baseline];
    const bound = (cell, end) => (standing.by === "p50" ? (cell.interval?.[end] ?? null) : null);
    const row = (cell, label, trust, isRawTransport, place) => ({
      cell,
      label,
      isRawTransport,
      figure: place?.figure ?? figureOf(cell, standing),
      low: bound(cell, 0),
      high: bound(cell, 1),
      p50_ns: cell.latency?.p50 ?? null,
      p99_ns: cell.latency?.p99 ?? null,
      rate_hz: cell.rate_hz ?? null,
      times: isRawTransport ? 1 : (place?.ratio ?? null),
      trials: cell.trials,
      ...trust,
    });
    const rows = [
      ...(baseline
        ? [row(baseline, "baseline", { isSure: !baseline.doubt, why: baseline.doubt ?? baseline.name }, true)]
        : []),
      ...standing.places.map((place) =>
        row(cells[place.row], cells[place.row].name, trustOf(place, cells[place.row]), false, place),
      ),
    ];
    const rated = isByRate(standing, cells);
    const columns = [
      { name: "label", title: "what" },
      ...(rated
        ? [{ name: "rate_hz", title: "messages a second", show: rate }]
        : [{ name: "p50_ns", title: "p50", show: us }]),
      { name: "low", title: "from (95 %)", show: rated ? rate : us },
      { name: "high", title: "to", show: rated ? rate : us },
      ...(rated ? [] : [{ name: "p99_ns", title: "p99", show: us }]),
      { name: "times", title: "× baseline", show: times },
      { name: "trials", title: "trials" },
      { name: "why", title: "trust" },
    ];
    const failed = standing.failed
      .map((index) => cells[index])
      .map((each) => `${each.name} (${each.failed?.code.replaceAll("-", " ") ?? "another actual transport"})`);
    const notes = failed.length ? [`In no order: ${failed.join(", ")}.`] : [];
    if (rows.length > MOST) notes.push(`${MOST} of ${rows.length} are drawn; the table has all.`);
    return { rows, columns, notes };
  },
  draw(rows, context, width) {
    const standing = standingOf(context);
    const isRate = isByRate(standing, context.data.cells);
    const show = isRate ? rate : us;
    const drawn = rows
      .slice(0, MOST)
      .map((row, index) => ({
        ...row,
        index,
        colour: row.isRawTransport ? "var(--raw-transport)" : context.styles.of(row.cell.series).colour,
        own: isRate ? row.rate_hz : row.p50_ns,
        tail: isRate ? null : row.p99_ns,
      }));
    const wide = width >= NARROW;
    const left = wide ? Math.min(width * 0.34, Math.max(...drawn.map((row) => widthOf(row.label))) + 16) : 10;
    const room = Math.min(170, Math.max(...drawn.map((row) => widthOf(row.why))) + 24);
    const right = wide ? 150 + room : 12;
    const values = drawn.flatMap((row) => [row.own, row.low, row.high, row.tail]).filter((each) => each > 0);
    const x = logAxis(values, isRate ? rate : time, null, {
      most: Math.max(3, Math.floor((width - left - right) / 70)),
      grid: true,
    });
    const y = (row) => row.index;
    const dy = wide ? 0 : 1; // on narrow screens the name is above the marks and the reason below
    const text = (options) =>
      Plot.text(drawn, { y, ...HALO, frameAnchor: "right", textAnchor: "end", fill: "var(--ink)", ...options });
    const mark = (row) => `${row.isSure ? "●" : "○"} ${row.why}`.trim();
    const baselineRow = drawn.find((row) => row.isRawTransport);
    const head = (dx, words, textAnchor = "end") =>
      Plot.text([words], { frameAnchor: "top-right", dx, dy: -14, textAnchor, text: (each) => each, fill: "var(--quiet)" });
    const frame = {
      width,
      height: drawn.length * (wide ? 22 : 46) + 52,
      marginLeft: left,
      marginRight: right,
      marginTop: wide ? 24 : 8,
      marginBottom: 26,
    };
    const svg = plotted(frame, { x, y: { type: "band", domain: drawn.map(y), axis: null, padding: 0.1 } }, [
      baselineRow ? Plot.ruleX([baselineRow.own], { stroke: "var(--raw-transport)", strokeDasharray: "5 4" }) : null,
      Plot.ruleY(
        drawn.filter((row) => row.tail > 0),
        { y, x1: "own", x2: "tail", stroke: (row) => row.colour, strokeOpacity: 0.35, dy },
      ),
      Plot.link(
        drawn.filter((row) => row.low > 0 && row.high > 0),
        { x1: "low", x2: "high", y1: y, y2: y, stroke: (row) => row.colour, strokeWidth: 5, strokeOpacity: 0.45, dy },
      ),
      Plot.dot(
        drawn.filter((row) => row.own > 0),
        { x: "own", y, fill: (row) => row.colour, symbol: "circle", r: 4.5, dy },
      ),
      Plot.dot(
        drawn.filter((row) => row.tail > 0),
        { x: "tail", y, fill: (row) => row.colour, symbol: "triangle", r: 4, dy },
      ),
      Plot.text(
        drawn,
        wide
          ? { y, frameAnchor: "left", textAnchor: "end", dx: -10, text: "label", fill: "var(--ink)" }
          : {
              y,
              frameAnchor: "left",
              textAnchor: "start",
              dx: -2,
              dy: -14,
              ...HALO,
              text: "label",
              fill: "var(--ink)",
              fontWeight: 600,
            },
      ),
      ...(wide
        ? [
            text({ text: (row) => show(row.figure), dx: 68 }),
            text({ text: (row) => times(row.times), dx: 128 }),
            text({ text: mark, dx: 142, textAnchor: "start", fill: (row) => (row.isSure ? "var(--ink)" : "var(--bad)") }),
            head(68, isRate ? "messages" : standing.by),
            head(128, "× baseline"),
            head(142, "trust", "start"),
          ]
        : [
            text({ text: (row) => `${show(row.figure)}  ${times(row.times)}  ${row.isSure ? "●" : "○"}`, dy: -14 }),
            text({
              text: (row) => (row.isSure ? "" : row.why),
              frameAnchor: "left",
              textAnchor: "start",
              dx: -2,
              dy: 14,
              fill: "var(--bad)",
            }),
          ]),
      tip({
        data: drawn,
        at: { x: "own", y },
        title: (row) => {
          const figures = isRate ? `${show(row.own)}` : `p50 ${us(row.own)}, p99 ${us(row.tail)}`;
          const interval = row.low ? `\n95 %: ${show(row.low)} to ${show(row.high)}` : "";
          return `${row.label}\n${figures}${interval}\n${row.trials} trials${row.why ? `: ${row.why}` : ""}`;
        },
      }),
    ]);
    const legend = [
      { name: isRate ? "messages a second" : "p50", symbol: SYMBOLS_OF.p50, colour: "var(--ink)" },
      ...(drawn.some((row) => row.low > 0) ? [{ name: "95 % interval", colour: "var(--ink)" }] : []),
      ...(drawn.some((row) => row.tail > 0) ? [{ name: "p99", symbol: SYMBOLS_OF.p99, colour: "var(--ink)" }] : []),
    ];
    return { svg, legend, notes: ["● its place in the order is sure; ○ it is not."] };
  },
};

// The selects, the sentence and the matrix; `changed` is called when another standing is chosen.
export function firstScreen(context, changed) {
  const { data, selection } = context;
  if (data.standings.length === 0) return { show() {} };
  const places = Object.fromEntries(
    ["selects", "verdict", "settle", "wins"].map((each) => [each, document.getElementById(each)]),
  );
  const choose = (standing) => {
    selection.options.set(KEY, String(data.standings.indexOf(standing)));
    const hadFocus = places.wins.contains(document.activeElement);
    show();
    if (hadFocus) places.wins.querySelector("[aria-pressed=true]")?.focus();
    changed();
  };
  const label = (key) => data.factors.find((each) => each.name === key)?.label ?? key;
  const distinct = (of) => [...new Set(data.standings.map(of))];

  // Among the standings with the chosen value, find the one most similar to the current one.
  const nearest = (has) => {
    const shown = standingOf(context);
    const alike = (each) =>
      Number(each.by === shown.by) +
      2 * Number(each.size === shown.size) +
      keysOf(data).filter((key) => each.levels[key] === shown.levels[key]).length;
    return data.standings.filter(has).sort((a, b) => alike(b) - alike(a))[0];
  };
  const select = (name, values, shownAs, of) => {
    if (values.length < 2) return null;
    const options = values.map((value) => element("option", { value }, shownAs(value)));
    const node = element(
      "select",
      { onchange: (event) => choose(nearest((each) => String(of(each)) === event.target.value)) },
      ...options,
    );
    return {
      node: element("label", {}, `${name} `, node),
      show: () => {
        node.value = String(of(standingOf(context)));
      },
    };
  };
  const selects = [
    ...keysOf(data).map((key) =>
      select(
        label(key),
        distinct((each) => each.levels[key]),
        (value) => (value === "any" ? "any transport" : value),
        (each) => each.levels[key],
      ),
    ),
    select(
      "Size",
      distinct((each) => each.size).sort((a, b) => a - b),
      bytes,
      (each) => each.size,
    ),
    select(
      "Lowest by",
      distinct((each) => each.by),
      (value) => FIGURES[value],
      (each) => each.by,
    ),
  ].filter(Boolean);
  places.selects.replaceChildren(...selects.map((each) => each.node));

  function show() {
    const standing = standingOf(context);
    for (const each of selects) each.show();
    sentence(places.verdict, standing);
    places.settle.replaceChildren(...settling(standing));
    places.wins.replaceChildren(...matrix(data, standing, choose));
  }
  return { show };
}

function sentence(place, standing) {
  const sure = element("b", { class: `mark ${standing.sure ? "sure" : "unsure"}` }, standing.sure ? "SURE" : "NOT SURE");
  place.replaceChildren(`${standing.lead} `, ...(standing.verdict === "only" ? [] : [sure, " "]), standing.why);
}

function settling({ command, seconds }) {
  if (!command) return [];
  const told = element("output", { class: "told" });
  const shown = element("code", { hidden: true }, command);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      told.textContent = "copied";
    } catch {
      told.textContent = "";
    }
    shown.hidden = false;
  };
  const about = seconds ? ` (about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`})` : "";
  return [
    element("button", { type: "button", onclick: copy, title: command }, `Copy the command that decides it${about}`),
    " ",
    told,
    shown,
  ];
}

const wins = ({ verdict, sure, winner, places }) => {
  if (verdict === "only") return winner;
  if (!sure) return `${winner} ?`;
  return verdict === "best" ? `${winner} ✓` : `tie of ${places.filter((each) => each.standing === "equivalent").length}`;
};

// A matrix of experiments and sizes with the winner in each cell; a click shows it above.
function matrix(data, shown, choose) {
  const members = data.standings.filter((each) => each.by === shown.by);
  const sizes = [...new Set(members.map((each) => each.size))].sort((a, b) => a - b);
  const isAny = (each) => (each.levels.carrier ?? "any") === "any";
  const rows = [
    ...new Map(
      [...members.filter(isAny), ...members.filter((each) => !isAny(each))].map((each) => [levelsOf(each), each]),
    ).entries(),
  ];
  if (members.length < 2) return [];
  const cell = (standing) => {
    if (!standing) return element("td", {}, "–");
    const button = element(
      "button",
      {
        type: "button",
        class: standing.sure ? "sure" : "unsure",
        title: `${standing.lead} ${standing.why}`,
        "aria-pressed": String(standing === shown),
        onclick: () => choose(standing),
      },
      wins(standing),
    );
    return element("td", {}, button);
  };
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Who wins where"),
    ...sizes.map((size) => element("th", { scope: "col" }, bytes(size))),
  );
  const body = rows.map(([name, first]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name || "any transport"),
      ...sizes.map((size) => cell(members.find((each) => isAlike(each, { ...first, size })))),
    ),
  );
  return [
    element(
      "div",
      { class: "scrolls wins", tabindex: "0", role: "region", "aria-label": "Who wins where" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    ),
    element(
      "p",
      { class: "notes" },
      "✓ significantly; tie: near enough to the lowest, by how much is above; ? lowest, undecided. A cell shows " +
        "its picture above.",
    ),
  ];
}
