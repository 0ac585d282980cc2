// The page: its sections and figures, the stored selection, and when figures are drawn.
import { chooseColumn } from "./answer.mjs";
import { scaling, starts } from "./crowds.mjs";
import { cost, loss, memory, processor, switches, throughput } from "./costs.mjs";
import { decision, decisionForm } from "./decision.mjs";
import { ecdf, percentileCurve } from "./distribution.mjs";
import { Figure } from "./figure.mjs";
import { filters } from "./filters.mjs";
import { firstScreen } from "./first.mjs";
import { changes, forest } from "./forest.mjs";
import { latencyBySize, timesRawTransport } from "./latency.mjs";
import { latencyThroughput, offeredReceived } from "./load.mjs";
import { order } from "./order.mjs";
import { printPicture } from "./picture.mjs";
import { ranges, usualSize } from "./ranges.mjs";
import { robots } from "./robot.mjs";
import { Selection, filtered, indexed } from "./selection.mjs";
import { Styles } from "./style.mjs";
import { element } from "./table.mjs";
import { breakdown, heatMap } from "./time.mjs";

const PAPER = 700; // CSS pixels: the width of A4 and Letter without margins

function sections(data) {
  const has = (kind) => data.cells.some((each) => each.kind === kind);
  return {
    "changes-figure": [changes],
    "time-figures": [breakdown],
    "distribution-figures": [ecdf],
    "cost-figures": [cost],
    "decide-figures": [decision],
    "comparison-figures": [forest],
    ...(data.laws.length || data.cells.some((each) => each.start) ? { "crowd-figures": [scaling, starts] } : {}),
    "all-figures": [
      ...(has("round_trip") || !has("one_way") ? [latencyBySize("round_trip", "round trip", data.quantiles)] : []),
      ...(has("one_way") ? [latencyBySize("one_way", "one way", data.quantiles)] : []),
      ranges,
      timesRawTransport,
      percentileCurve,
      heatMap,
      throughput,
      offeredReceived,
      latencyThroughput,
      loss,
      processor,
      memory,
      switches,
      order,
    ],
  };
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.cells.length === 0) return; // the template has a sentence for this
  for (const cell of data.cells) cell.f.run = cell.run; // with several runs, the run is a factor
  // The factors that separate experiments. By default the best transport of each middleware and the baseline are shown.
  data.experiment = Object.keys(data.standings[0]?.levels ?? {})
    .map((name) => data.factors.find((each) => each.name === name && name !== "run"))
    .filter(Boolean);
  const best = bestOf(data);
  const selection = new Selection(data.factors);
  const indices = indexed(data.cells, data.factors);
  let cells = data.cells;
  const isBest = () =>
    best.size < data.cells.length && selection.options.get("transports") !== "all" && !selection.levels.has("transport");
  const context = {
    data,
    selection,
    styles: new Styles(
      data.cells,
      data.standings[data.usual]?.places.map(({ row }) => row),
    ),
    cells: () => cells,
    isBest,
    apply: () => apply(),
  };

  const figures = [];
  const keep = () => {
    const hash = selection.hash(selection.at);
    try {
      history.replaceState(null, "", hash);
    } catch {
      // some viewers forbid it for files; the links beside the figures contain the selection too
    }
    for (const each of figures) each.link.setAttribute("href", selection.hash(each.spec.id));
  };
  const missing = new Map(); // reason → titles
  for (const [place, specs] of Object.entries(sections(data))) {
    const made = specs.filter((spec) => spec.has?.(data) ?? true).map((spec) => new Figure(spec, context, keep));
    for (const spec of specs.filter((each) => each.lacks && !each.has(data)))
      missing.set(spec.lacks(data), [...(missing.get(spec.lacks(data)) ?? []), spec.title]);
    const section = document.getElementById(place);
    section.replaceChildren(...made.map((each) => each.node));
    if (made.length === 0) leaveOut(section);
    figures.push(...made);
  }
  document.getElementById("filters").classList.toggle(
    "unused",
    data.cells.every((each) => each.failed),
  );
  document.getElementById("missing").textContent = missing.size
    ? `Not drawn: ${[...missing].map(([why, titles]) => `${titles.join(", ")} (${why})`).join("; ")}.`
    : "";

  const apply = () => {
    cells = filtered(data.cells, indices, selection).filter((each) => !isBest() || best.has(each.i));
    panel.show(cells.length, data.cells.length);
    for (const each of figures) {
      if ((each.spec.isFixed || each.spec.isChosen) && each.drawnWidth) continue; // they do not depend on the filters
      each.markStale();
    }
    for (const each of figures) if (each.isOnScreen()) each.drawIfDue();
    setTimeout(() => figures.forEach((each) => each.drawIfDue())); // figures just below the screen come after the visible ones
    keep();
  };
  const panel = filters(
    document.getElementById("filters"),
    data.factors,
    selection,
    apply,
    best.size < data.cells.length && { isBest },
  );
  const first = firstScreen(context, () => {
    for (const each of figures.filter(({ spec }) => spec.isChosen)) {
      each.markStale();
      each.drawIfDue();
    }
    keep();
  });
  const decided = figures.find((each) => each.spec === decision);
  const needs = document.getElementById("decide-form") ?? element("form"); // it is gone if nothing was measured
  const form = decisionForm(needs, selection, usualSize(data), () => {
    decided.markStale();
    decided.drawIfDue(true);
    keep();
  });

  const restore = () => {
    if (!selection.restore(location.hash)) return false;
    form.show();
    first.show();
    for (const each of figures.filter(({ spec }) => spec.isChosen)) each.markStale();
    apply();
    const at = figures.find((each) => each.spec.id === selection.at);
    if (at) {
      goTo(at.node);
      at.node.focus({ preventScroll: true });
    }
    return true;
  };
  // Figures above the target of a link are drawn first, because drawing them later would move the target.
  const goTo = (node) => {
    for (let around = node.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    for (const each of figures)
      if (each.node === node || node.compareDocumentPosition(each.node) & Node.DOCUMENT_POSITION_PRECEDING)
        each.drawIfDue(true);
    node.scrollIntoView();
  };
  const land = (hash) => {
    const node = document.getElementById(hash.slice(1));
    if (node) goTo(node);
  };
  const follow = () => restore() || land(location.hash);

  watch(figures);
  const bar = document.getElementById("filters");
  new ResizeObserver(() =>
    document.documentElement.style.setProperty(
      "--bar",
      getComputedStyle(bar).position === "sticky" ? `${bar.offsetHeight}px` : "0px",
    ),
  ).observe(bar);
  const opened = location.hash;
  if (!restore()) {
    form.show();
    first.show();
    apply();
    land(opened);
  }
  robots(context, (workload, column) => {
    if (workload > 0) return;
    chooseColumn(context, column);
    first.show();
    keep();
  });
  if (opened === "#picture") return void printPicture(context);
  window.addEventListener("hashchange", follow);
  // A link to the current address causes no event.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  performance.mark("started");
}

// Removes a section without a figure and its link.
function leaveOut(place) {
  const section = place.closest("section, details");
  if (!section || section.id === "answer") return;
  document.querySelector(`nav a[href="#${section.id}"]`)?.closest("li").remove();
  section.remove();
}

// The rows of every series that is the best of its middleware in an experiment, and the rows of their baselines.
function bestOf(data) {
  const series = new Set();
  for (const { by, levels, places, baseline } of data.standings) {
    if (by !== "p50" || (levels.carrier ?? "any") !== "any") continue;
    for (const { row } of places) series.add(data.cells[row].series);
    if (baseline !== undefined) series.add(data.cells[baseline].series);
  }
  return new Set(data.cells.filter((each) => series.size === 0 || series.has(each.series)).map((each) => each.i));
}

// Draws figures when they become visible, again when their width changes, and all of them before printing.
function watch(figures) {
  const of = new Map(figures.map((each) => [each.node, each]));
  const sight = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        of.get(target).isSeen = isIntersecting;
        of.get(target).drawIfDue();
      }
    },
    { rootMargin: "200px" },
  );
  const places = new Map(figures.map((each) => [each.plot, each]));
  const width = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const figure = places.get(target);
      if (figure.drawnWidth === 0 || Math.abs(target.clientWidth - figure.drawnWidth) < 2 || isPrinting) continue;
      figure.markStale();
      requestAnimationFrame(() => figure.drawIfDue());
    }
  });
  let isPrinting = false;
  for (const each of figures) {
    sight.observe(each.node);
    width.observe(each.plot);
  }
  window.addEventListener("beforeprint", () => {
    isPrinting = true;
    for (const each of figures) each.draw(PAPER);
  });
  window.addEventListener("afterprint", () => {
    isPrinting = false;
    for (const each of figures) {
      each.markStale();
      each.drawIfDue();
    }
  });
}

setTimeout(start); // the browser first paints the question and the answer, which the page has as text
