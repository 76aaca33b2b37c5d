// The row of page links becomes a navigation landmark with its current page marked, and one live region speaks the
// page's sentence when it changes. Streamlit draws its parts late and anew, so an observer keeps both true.
let live, observer;

function mark() {
  const row = document.querySelector(".st-key-pages");
  if (row) {
    row.setAttribute("role", "navigation");
    row.setAttribute("aria-label", "Pages");
    for (const link of row.querySelectorAll("a")) {
      const open = new URL(link.href).pathname === location.pathname;
      if (open) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  // A line that scrolls by itself must be reachable by keyboard.
  for (const line of document.querySelectorAll(".katex-display")) {
    if (line.scrollWidth > line.clientWidth) line.tabIndex = 0;
  }
  const sentence = document.querySelector("h1")?.textContent ?? "";
  if (live.textContent !== sentence) live.textContent = sentence;
}

export default function () {
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
    observer.observe(document.querySelector(".stApp") ?? document.body, { childList: true, subtree: true, characterData: true });
  }
  mark();
}
