// Comparisons as a forest plot: a line for each pair of cells that differ in one factor, with shift, interval and verdict.
import * as Plot from "@observablehq/plot";
import { bands, fitted, plotted, roomFor, tip } from "./style.mjs";
import { columnsOf } from "./table.mjs";
import { plain, signed } from "./words.mjs";

const MOST = 40;

// Symbols distinguish the verdicts without colours; the words are beside them.
const LOOKS = {
  better: { symbol: "triangle", colour: "var(--good)" },
  worse: { symbol: "square", colour: "var(--bad)" },
  equivalent: { symbol: "circle", colour: "var(--ink)" },
  undecided: { symbol: "cross", colour: "var(--quiet)" },
};
const GOOD = new Set(["faster", "less", "better", "A eliminated"]);

const look = (verdict) => LOOKS[verdict] ?? (GOOD.has(verdict) ? LOOKS.better : LOOKS.worse);

// The order if there is no room for all: decided comparisons, then those with an interval, the larger shifts first.
const weight = (row) =>
  (row.verdict === "undecided" ? 0 : 100) +
  (Number.isFinite(row.low) ? 50 : 0) +
  Math.min(49, Math.abs(Math.log(1 + row.shift)));

// `fixed`: the options that the reader cannot choose.
const forestOf = ({ id, title, says, fixed = {}, most = MOST, isFixed }) => ({
  id,
  title,
  says,
  isFixed,
  has: (data) => data.comparisons.some((each) => Object.entries(fixed).every(([key, value]) => each[key] === value)),
  lacks: isFixed ? null : () => "no two rows differ in one factor alone",
  options({ data }) {
    if (isFixed) return [];
    const values = (name) => [...new Set(data.comparisons.map((each) => each[name]))];
    return [
      {
        key: "factor",
        label: "--by",
        values: values("factor").map((name) => [name, name]),
        initial: ["run", "adapter"].find((each) => values("factor").includes(each)),
      },
      { key: "metric", label: "Metric", values: values("metric").map((name) => [name, name]), initial: "p50" },
      {
        key: "verdict",
        label: "Verdict",
        values: [["", "any"], ...values("verdict").map((name) => [name, name])],
        initial: "",
      },
    ];
  },
  rows(context) {
    const seen = new Set(context.cells.map((each) => each.i));
    const option = (key) => fixed[key] ?? context.option(key);
    const verdict = option("verdict");
    const rows = context.data.comparisons
      .filter(
        (each) =>
          each.factor === option("factor") &&
          each.metric === option("metric") &&
          (!verdict || each.verdict === verdict) &&
          (isFixed || (seen.has(each.a) && seen.has(each.b))),
      )
      .map((each, index) => ({
        ...each,
        index,
        first: each.names[0],
        second: each.names[1],
        needed: each.verdict === "undecided" ? (each.trials_needed ?? "more than 10,000") : null,
        marked: (each.marks ?? []).join("; "),
      }))
      .sort((a, b) => a.shift - b.shift);
    const columns = columnsOf(
      ["what", "same on both sides"],
      ["first", "first"],
      ["second", "second"],
      ["shift", "second over first", signed],
      ["low", "from (95 %)", signed],
      ["high", "to", signed],
      ["p_family", "p of all", plain],
      ["pairs", "pairs"],
      ["verdict", "the second is"],
      ["needed", "trials that would decide"],
      ["marked", "warning"],
    );
    const notes = rows.some((each) => each.low === null || each.low === undefined)
      ? ["Comparisons without a line have fewer than six pairs, and so neither an interval nor a verdict."]
      : [];
    if (rows.length > most)
      notes.push(
        `${most} of ${rows.length} are drawn: verdicts first, the largest differences before smaller ones; the table has all.`,
      );
    const leftOut = context.data.comparisons_left_out?.[option("factor")];
    if (leftOut)
      notes.push(`${leftOut.toLocaleString("en")} more comparisons were judged, but this file has no room for them.`);
    return {
      rows,
      columns,
      notes,
      absent: "No two selected configurations differ in only one factor and have enough trials.",
    };
  },
  draw(rows, context, width) {
    const drawn = [...rows]
      .sort((a, b) => weight(b) - weight(a))
      .slice(0, most)
      .sort((a, b) => a.shift - b.shift);
    const named = (row) => (isFixed ? row.what : `${row.first} → ${row.second}${row.what ? `, ${row.what}` : ""}`);
    const wide = width > 760;
    const left = wide ? roomFor(drawn.map(named), width) : 12;
    const right = wide ? 104 : 88;
    const names = new Map(drawn.map((row) => [row.index, named(row)]));
    const margin = context.data.margin ?? 0.05;
    // The axis is one of ratios: a shift of +100 % is as far from 0 as one of −50 %.
    const ratios = drawn
      .flatMap((row) => [row.shift, row.low, row.high])
      .filter((each) => Number.isFinite(each))
      .map((each) => Math.max(1 + each, 0.01));
    const domain = [Math.min(1 / (1 + margin * 2), ...ratios) / 1.05, Math.max(1 + margin * 2, ...ratios) * 1.05];
    const ticks = [0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50].filter(
      (each) => each >= domain[0] && each <= domain[1],
    );
    const room = Math.max(3, Math.floor((width - left - right) / 60));
    const thin = ticks
      .filter((each, index) => each === 1 || index % Math.ceil(ticks.length / room) === 0)
      .filter(
        (each, _, all) =>
          each === 1 || !all.includes(1) || Math.abs(Math.log(each)) / Math.log(domain[1] / domain[0]) > 0.8 / room,
      );
    const y = (row) => row.index;
    const frame = { width, height: drawn.length * (wide ? 24 : 40) + 60, marginLeft: left, marginRight: right };
    const beside = wide ? bands(drawn.map(y), names, left) : { type: "band", domain: drawn.map(y), axis: null };
    const svg = plotted(frame, { x: { type: "log", domain, axis: null, label: null }, y: beside }, [
      Plot.gridX(thin),
      Plot.axisX(thin, { text: (each) => signed(Math.round((each - 1) * 100) / 100), label: null }),
      Plot.ruleX([1], { stroke: "var(--ink)" }),
      Plot.ruleX([1 + margin, 1 / (1 + margin)], { stroke: "var(--quiet)", strokeDasharray: "1 3" }),
      Plot.link(
        drawn.filter((row) => Number.isFinite(row.low) && Number.isFinite(row.high)),
        {
          x1: (row) => 1 + row.low,
          x2: (row) => 1 + row.high,
          y1: y,
          y2: y,
          stroke: (row) => look(row.verdict).colour,
          strokeWidth: 2,
        },
      ),
      Plot.dot(drawn, {
        x: (row) => Math.max(1 + row.shift, domain[0]),
        y,
        symbol: (row) => look(row.verdict).symbol,
        fill: (row) => look(row.verdict).colour,
        r: 5,
      }),
      Plot.text(drawn, {
        y,
        frameAnchor: "right",
        dx: right - 8,
        textAnchor: "end",
        text: "verdict",
        fill: (row) => look(row.verdict).colour,
      }),
      wide
        ? null
        : Plot.text(drawn, {
            y,
            frameAnchor: "left",
            dy: -14,
            textAnchor: "start",
            text: (row) => fitted(named(row), width - 24),
          }),
      tip({
        data: drawn,
        at: { x: (row) => 1 + row.shift, y },
        title: (row) =>
          `${named(row)}\n${signed(row.shift)} (${signed(row.low)} to ${signed(row.high)}), ${row.pairs} pairs: ${row.verdict}`,
      }),
    ]);
    return { svg };
  },
});

export const forest = forestOf({
  id: "forest",
  title: "How much they differ",
  says:
    "Each line compares two configurations that differ only in the chosen factor: the shift from the first to " +
    "the second, and its 95 % interval. Between the two dotted lines a difference does not matter. The verdict " +
    "is corrected for all comparisons of the run by that metric.",
});

// The configurations that two runs have in common, the second compared with the first; significant changes come first.
export const changes = forestOf({
  id: "changes",
  title: "What changed",
  says: "Each line is a configuration that both runs have: how much longer it takes in the second, with its 95 % interval.",
  fixed: { factor: "run", metric: "p50" },
  most: 12,
  isFixed: true,
});
