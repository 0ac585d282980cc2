// The table behind a figure, on the page and as CSV. A column: {name (of the CSV, with its unit), title, show}.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children); // texts are never parsed as markup
  return made;
}

export const columnsOf = (...columns) => columns.map(([name, title, show]) => ({ name, title, show }));

export function table(columns, rows, label) {
  const head = element("tr", {}, ...columns.map((each) => element("th", { scope: "col" }, each.title)));
  const body = document.createElement("tbody");
  for (const row of rows) {
    const line = body.insertRow();
    columns.forEach((column, index) => {
      const value = row[column.name];
      const cell = index === 0 ? line.appendChild(element("th", { scope: "row" })) : line.insertCell();
      cell.textContent = column.show ? column.show(value, row) : value === null || value === undefined ? "–" : String(value);
      if (typeof value === "number") cell.className = "number";
    });
  }
  const whole = element("table", {}, element("caption", { class: "unseen" }, label), element("thead", {}, head), body);
  return element("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": `Table: ${label}` }, whole);
}

// RFC 4180; a figure that was not measured is empty. An apostrophe is put before a name that looks like a formula.
export function csv(columns, rows) {
  const lines = [columns.map((each) => each.name), ...rows.map((row) => columns.map((column) => row[column.name]))];
  return lines.map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}

function field(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
