// Fields of text that are numbers: what a reader typed is written as it is read (32k becomes 32,000, and 9.5 becomes
// 9.5 ms where milliseconds are meant) before the server gets it, and keys move a number up and down.
// What is read is told by `quantities.number`, which has the last word: what is not understood here stays as it is.
let fields = {};
const kinds = {}; // name of a field -> what its keys do, for a press that comes before a new page has told it
const SIZES = { "": 1, "%": 0.01, k: 1e3, thousand: 1e3, m: 1e6, mn: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9 };
const NUMBER =
  /^\s*\$?\s*([-+]?(?:(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*([a-z%]{0,8})\s*$/i;
const KEYS = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

function parsed(text) {
  const [, digits, size] = NUMBER.exec(text) ?? [];
  const factor = SIZES[size?.toLowerCase()];
  return factor === undefined ? NaN : Number((Number(digits.replace(/[,' \u00a0\u202f]/g, "")) * factor).toPrecision(15));
}

function shown(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 20 });
}

function keyOf(input) {
  return [...(input.closest?.("[class*=st-key-]")?.classList ?? [])].find((one) => one.startsWith("st-key-"));
}

function fieldOf(input) {
  return fields[keyOf(input)] ?? kinds[nameOf(keyOf(input))];
}

function nameOf(key) {
  return key?.replace("st-key-", "").split("-")[0];
}

function write(input, text) {
  if (input.value === text) return;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

function tidy(input) {
  const field = fieldOf(input);
  const value = parsed(input.value);
  if (!field || Number.isNaN(value)) return;
  if (field.unit) write(input, /[a-z]\s*$/i.test(input.value) ? input.value : `${input.value.trim()} ${field.unit}`);
  // Points that may set thousands apart are left to the server, which refuses them.
  else if (!(field.step === 1 && /^\s*\d{1,3}(\.\d{3})+\s*$/.test(input.value))) write(input, shown(value));
}

function pressed(event) {
  const input = event.target;
  if (input.tagName !== "INPUT") return;
  if (event.key === "Enter") tidy(input);
  const field = fieldOf(input);
  const value = parsed(input.value || "0");
  if (!(event.key in KEYS) || !field?.step || Number.isNaN(value)) return;
  event.preventDefault();
  event.stopPropagation();
  const moved = Number((value + KEYS[event.key] * field.step).toPrecision(12));
  write(input, shown(Math.min(field.most, Math.max(field.least, moved))));
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}

function typing(told) {
  if (told) {
    const name = (key) => `st-key-${key.trim().replace(/[^a-zA-Z0-9_-]/g, "-")}`;
    fields = Object.fromEntries(Object.entries(told).map(([key, field]) => [name(key), field]));
  }
  for (const [name, field] of Object.entries(fields)) {
    kinds[nameOf(name)] = { ...field, wrong: undefined };
    const input = document.querySelector(`.${name} input`);
    if (!input) continue;
    input.dataset.told = name;
    if (field.step) {
      input.setAttribute("role", "spinbutton");
      input.setAttribute("aria-valuenow", parsed(input.value) || 0);
      input.setAttribute("aria-valuetext", input.value);
    }
    if (field.wrong) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-description", field.wrong);
    } else if (input.hasAttribute("aria-description")) {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-description");
    }
  }
}

document.addEventListener("keydown", pressed, true);
document.addEventListener("focusout", (event) => event.target.tagName === "INPUT" && tidy(event.target), true);

