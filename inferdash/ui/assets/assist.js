// One live region speaks the page's sentence when it changes. Streamlit draws its parts late and anew, so an observer
// keeps it true.
//
// A server that was restarted knows nothing of the page until its next run, which would be an edit: one run right
// after the connection is back lets it take the scenario from the address first.
let live, observer, connected, rerun;

function mark() {
  typing();
  sheets();
  printed();
  anchors();
  // A line or a table that scrolls by itself must be reachable by keyboard.
  for (const part of document.querySelectorAll(".katex-display, [data-testid=stMarkdownContainer]:has(> table)")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
  const sentence = document.querySelector("h1")?.textContent ?? "";
  if (live.textContent !== sentence) live.textContent = sentence;
  const now = document.querySelector("[data-test-connection-state]")?.dataset.testConnectionState === "CONNECTED";
  if (now && connected === false) {
    reconnected();
    rerun();
  }
  connected = now;
  enterAgain();
  // A button that is off while its file is made loses the focus, and with it a window hears no Escape.
  const open = document.querySelector("[role=dialog]");
  if (open && document.activeElement === document.body) {
    open.tabIndex = -1;
    open.focus();
  }
}

export default function ({ data, setTriggerValue }) {
  const before = Object.keys(fields).join();
  typing(data.fields);
  settle(before !== Object.keys(fields).join());
  rerun = () => setTriggerValue("reconnected", true);
  if (!live) {
    live = document.createElement("div");
    live.setAttribute("role", "status");
    live.className = "only-read-aloud";
    document.body.append(live);
  }
  if (!observer) {
    let waiting = false;
    observer = new MutationObserver(() => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    });
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
      attributeFilter: ["data-test-connection-state"],
    });
  }
  mark();
}
