// The JavaScript lint: errors that are hard to see, such as undefined and unused names.
const browser = [
  "CSS", "Node", "document", "window", "location", "history", "navigator", "performance",
  "requestAnimationFrame", "getComputedStyle", "URL", "URLSearchParams", "Blob", "setTimeout",
  "IntersectionObserver", "ResizeObserver", "XMLSerializer",
];
const node = ["process", "console", "Buffer", "URL", "setTimeout"];
// Names of the page, for functions that page.evaluate() runs there.
const inPage = ["document", "window", "performance", "getComputedStyle", "fetch", "location", "requestAnimationFrame"];
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
    languageOptions: { globals: readable([...node, ...inPage]) },
    rules: { ...rules, "no-restricted-properties": "off" },
  },
];
