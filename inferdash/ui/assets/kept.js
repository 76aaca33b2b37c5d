// An entry that a server took with it when it ended is entered again with the next one, whose fields are new ones.
const AGAIN_MS = 15000;
let entry; // what was typed last, until a run has told its fields
let again; // what is to be entered again when its field is there
let until = 0; // when it is too late for that

function typed(event) {
  if (event.target.tagName !== "INPUT" || !fieldOf(event.target)) return;
  const key = keyOf(event.target);
  entry = { name: nameOf(key), text: event.target.value };
  // A field of the server before that is still on the page.
  if (!fields[key] && performance.now() < until) again = entry;
}

function reconnected() {
  until = performance.now() + AGAIN_MS;
}

// After a run has told its fields: whether they are those of another server than before.
function settle(renewed) {
  if (renewed && entry && performance.now() < until) again = entry;
  entry = undefined;
}

function enterAgain() {
  const key = again && Object.keys(fields).find((one) => nameOf(one) === again.name);
  const input = key && document.querySelector(`.${key} input`);
  if (!input || input.disabled) return;
  const { text } = again;
  again = undefined;
  until = 0;
  if (input.value === text) return;
  write(input, text);
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}

document.addEventListener("input", typed, true);
document.addEventListener("click", (event) => event.target.closest("button") && (entry = undefined), true);

