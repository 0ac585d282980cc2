// Errors that are hard to see: undefined names and unused names.
const page = ["URL", "document", "getComputedStyle", "location", "performance", "requestAnimationFrame", "setTimeout", "window"];
const browser = [
  ...page,
  ...["Blob", "Image", "atob", "IntersectionObserver", "Node", "ResizeObserver", "URLSearchParams", "XMLSerializer"],
  ...["history", "navigator"],
];
const node = ["Buffer", "console", "process", ...page, "fetch"]; // the names of a page are used within page.evaluate()
const readable = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

const rules = {
  "no-undef": "error",
  "no-unused-vars": "error",
  "no-const-assign": "error",
  "no-dupe-keys": "error",
  "no-unreachable": "error",
  "no-redeclare": "error",
  "prefer-const": "error",
  eqeqeq: "error",
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "text is never markup" })),
  ],
};

export default [
  { files: ["**/scripts/*.mjs"], languageOptions: { globals: readable(browser) }, rules },
  {
    files: ["**/*.mjs"],
    ignores: ["**/scripts/*.mjs"],
    languageOptions: { globals: readable(node) },
    rules: { ...rules, "no-restricted-properties": "off" },
  },
];
