// The filters for all figures: a list of levels for each factor, usable by keyboard.
import { element } from "./table.mjs";

// best: {isBest()} if the reader can choose between the best transport of each middleware and all transports.
export function filters(place, factors, selection, changed, best) {
  const panels = factors.filter((each) => each.levels.length > 1).map((factor) => panel(factor, selection, changed));
  const reset = element(
    "button",
    {
      type: "button",
      onclick: () => {
        selection.reset(best);
        changed();
      },
    },
    "Show all",
  );
  const count = element("output", { class: "shown-count", "aria-live": "polite" });
  const choices = [
    ["", "best of each"],
    ["all", "all"],
  ].map(([value, text]) => element("option", { value }, text));
  const transports = element(
    "select",
    {
      onchange: (event) => {
        selection.options.set("transports", event.target.value);
        if (!event.target.value) selection.levels.delete("transport");
        changed();
      },
    },
    ...choices,
  );
  place.hidden = panels.length === 0 && !best;
  place.replaceChildren(
    ...(best ? [element("label", {}, "Transports ", transports)] : []),
    ...panels.map((each) => each.node),
    reset,
    count,
  );
  return {
    show(number, all) {
      panels.forEach((each) => each.show());
      if (best) transports.value = best.isBest() ? "" : "all";
      reset.disabled = number === all;
      count.textContent =
        number === all
          ? all === 1
            ? "one configuration"
            : `all ${all} configurations`
          : `${number} of ${all} configurations`;
    },
  };
}

function panel(factor, selection, changed) {
  const summary = element("summary");
  const boxes = factor.shown.map((name, index) => {
    const box = element("input", { type: "checkbox", value: index });
    box.addEventListener("change", () => {
      const chosen = new Set(boxes.filter((each) => each.box.checked).map((each) => Number(each.box.value)));
      selection.choose(factor.name, chosen); // selecting none or all levels means no filter
      changed();
    });
    return { box, node: element("label", {}, box, ` ${name}`) };
  });
  const list = element(
    "fieldset",
    {},
    element("legend", { class: "unseen" }, factor.label),
    ...boxes.map((each) => each.node),
  );
  const node = element("details", { class: "filter" }, summary, list);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    summary.focus();
  });
  document.addEventListener("click", (event) => {
    if (!node.contains(event.target)) node.open = false;
  });
  return {
    node,
    show() {
      const chosen = selection.levels.get(factor.name);
      boxes.forEach(({ box }, index) => {
        box.checked = chosen?.has(index) ?? false;
      });
      const names = chosen ? [...chosen].map((index) => factor.shown[index]) : [];
      const several = names.length > 2 ? `${names.length} of ${factor.levels.length}` : names.join(", ");
      summary.textContent = `${factor.label}: ${names.length === 0 ? "all" : several}`;
      node.classList.toggle("is-set", names.length > 0);
    },
  };
}
