// Draws the links once and then only their addresses and the mark of the open page. A plain click is a word to the
// server; any other (beside, in a new window, copied) is the browser's, as is every click while the server is away.
export default function ({ parentElement, data, setTriggerValue }) {
  const row = parentElement.querySelector("nav");
  row.setAttribute("aria-label", "Pages");
  row.className = "pages";
  if (!row.firstChild) {
    for (const [name, title] of data.pages) {
      const link = document.createElement("a");
      link.textContent = title;
      link.dataset.page = name;
      row.append(link);
    }
  }
  for (const [place, [name, , path]] of data.pages.entries()) {
    const link = row.children[place];
    link.href = `./${path}?${data.query}`;
    if (name === data.current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  row.onclick = (event) => {
    const link = event.target.closest("a");
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
    const connected = document.querySelector("[data-test-connection-state=CONNECTED]");
    if (!link || !plain || !connected) return;
    event.preventDefault();
    if (!link.hasAttribute("aria-current")) setTriggerValue("asked", link.dataset.page);
  };
}
