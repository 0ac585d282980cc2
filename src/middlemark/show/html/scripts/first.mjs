// The first screen: the winner with its figure and verdict, the matrix of winners, the bars, and what can be copied.
import { answerOf, choose, standingOf } from "./answer.mjs";
import { bars } from "./bars.mjs";
import { pictureButtons } from "./picture.mjs";
import { element } from "./table.mjs";
import { bytes } from "./words.mjs";

const WINS = { best: "✓", tie: "=", only: "", undecided: "?", "none holds": "✗" };
const MEANS = { "✓": "significant", "=": "tie", "?": "undecided or doubtful", "✗": "no candidate meets the requirements" };

// `changed` is called when another experiment is chosen.
export function firstScreen(context, changed) {
  const { data } = context;
  const places = Object.fromEntries(
    ["winner", "wins", "bars", "actions"].map((each) => [each, document.getElementById(each)]),
  );
  const take = (standing) => {
    choose(context, standing);
    const focused = document.activeElement?.dataset?.at;
    show();
    if (focused) document.querySelector(`[data-at="${focused}"]`)?.focus();
    changed();
  };
  function show() {
    const answer = answerOf(context);
    if (!answer) return;
    const standing = standingOf(context);
    places.winner.replaceChildren(...winner(answer));
    places.wins.replaceChildren(
      ...(standing ? [...matrices(context, standing, take), ...figures(data, standing, take)] : []),
    );
    places.bars.replaceChildren(...bars(answer));
    places.actions.replaceChildren(...actions(data, standing), ...pictureButtons(context));
  }
  return { show };
}

function winner(answer) {
  return [
    element(
      "p",
      { class: "name" },
      element("i", { style: `background-color: ${answer.colour}`, "aria-hidden": "true" }),
      answer.headline,
    ),
    element(
      "p",
      { class: "figure" },
      element("b", {}, answer.figure),
      element("span", {}, ` ${answer.what}`),
      answer.ratio && ` · ${answer.ratio}`,
    ),
    element(
      "p",
      { class: "verdict", id: "verdict", "aria-live": "polite" },
      element("b", { class: `mark ${answer.isSure ? "sure" : "unsure"}` }, answer.mark),
      ` ${answer.sentence}`,
    ),
  ];
}

// Buttons that choose between the median and the p99, if the run has both.
function figures(data, shown, take) {
  const alike = data.standings.filter((each) => each.size === shown.size && levelsOf(each) === levelsOf(shown));
  if (alike.length < 2) return [];
  return [
    element(
      "div",
      { class: "options", role: "group", "aria-label": "Compared by" },
      ...alike.map((each) => choice(each, shown, take, data.standings.indexOf(each), { class: "chip" }, each.by)),
    ),
  ];
}

const choice = (standing, shown, take, at, attributes, ...children) =>
  element(
    "button",
    {
      type: "button",
      "aria-pressed": String(standing === shown),
      "data-at": at,
      onclick: () => take(standing),
      ...attributes,
    },
    ...children,
  );

const levelsOf = (standing) =>
  Object.values(standing.levels)
    .filter((each) => each !== "any")
    .join(", ");

const isAny = (standing) => (standing.levels.carrier ?? "any") === "any";

// The matrix of all experiments over any transport, and those over one kind of transport, which open on demand.
function matrices(context, shown, take) {
  const members = context.data.standings.filter((each) => each.by === shown.by);
  const all = members.filter(isAny);
  const restricted = members.filter((each) => !isAny(each));
  const marks = new Set(all.map(markOf));
  const legend = Object.entries(MEANS).filter(([each]) => marks.has(each));
  const note = `${legend.map((each) => each.join(" ")).join(" · ")}. A click shows that experiment.`;
  return [
    ...(all.length > 1 ? [matrix(context, all, shown, take), element("p", { class: "notes" }, note)] : []),
    ...(restricted.length
      ? [
          element(
            "details",
            { open: !isAny(shown) },
            element("summary", {}, "Over one kind of transport"),
            matrix(context, all.length > 1 ? restricted : members, shown, take),
          ),
        ]
      : []),
  ];
}

const markOf = (each) => (each.sure || ["only", "none holds"].includes(each.verdict) ? WINS[each.verdict] : "?");
const isTied = ({ standing }) => ["equivalent", "best"].includes(standing);

// A cell for each experiment, with its winner. The columns are the sizes, or with one size the factor with most levels.
function matrix(context, members, shown, take) {
  const { data, styles } = context;
  const distinct = (of) => [...new Set(members.map(of))];
  const levels = (key) => distinct((each) => each.levels[key]);
  const keys = Object.keys(members[0].levels).filter((key) => levels(key).length > 1);
  const sizes = distinct((each) => each.size).sort((a, b) => a - b);
  const across = sizes.length > 1 ? null : keys.sort((a, b) => levels(b).length - levels(a).length)[0];
  const columnOf = (each) => (across ? each.levels[across] : each.size);
  const columns = across ? levels(across) : sizes;
  const title = (column) => (across ? (column === "any" ? "any transport" : column || "–") : bytes(column));
  const rowOf = (each) =>
    keys
      .filter((key) => key !== across)
      .map((key) => (each.levels[key] === "any" ? "any transport" : each.levels[key]))
      .join(", ");
  const cell = (standing) => {
    if (!standing) return element("td", {}, "–");
    const tie = standing.verdict === "tie" && standing.sure;
    const name = tie ? `tie of ${standing.places.filter(isTied).length}` : standing.winner;
    const look = {
      style: `--colour: ${styles.of(data.cells[standing.places[0].row].series).colour}`,
      class: standing.sure ? "sure" : "",
      title: `${standing.lead} ${standing.why}`,
    };
    return element(
      "td",
      {},
      choice(standing, shown, take, data.standings.indexOf(standing), look, `${name} ${markOf(standing)}`.trim()),
    );
  };
  const heads = ["Who wins where", ...columns.map(title)].map((each) => element("th", { scope: "col" }, each));
  const body = distinct(rowOf).map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, row || "winner"),
      ...columns.map((column) => cell(members.find((each) => columnOf(each) === column && rowOf(each) === row))),
    ),
  );
  return element(
    "div",
    { class: "scrolls wins", tabindex: "0", role: "region", "aria-label": "Who wins where" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body)),
  );
}

function actions(data, standing) {
  const about = (seconds) =>
    seconds ? ` (${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`})` : "";
  return [
    ...(standing ? [copier("copy settings", standing.settings)] : []),
    ...(data.commands.length ? [copier("copy command", data.commands[0])] : []),
    ...(standing?.command ? [copier(`copy the command that decides it${about(standing.seconds)}`, standing.command)] : []),
  ];
}

// A button that copies a text and shows it, so that it can be selected where copying is forbidden.
function copier(name, text) {
  const shown = element("code", { hidden: true, tabindex: "0" }, text);
  const done = element("output", {});
  const copy = async () => {
    shown.hidden = false;
    try {
      await navigator.clipboard.writeText(text);
      done.textContent = "copied";
    } catch {
      done.textContent = "";
    }
  };
  return element(
    "span",
    { class: "copier" },
    element("button", { type: "button", onclick: copy, title: text }, name),
    " ",
    done,
    shown,
  );
}
