// Builds the links once, and after that changes only their addresses, their words and the mark of the open page, so
// that a click that meets a new answer is not lost. A plain click is a word to the server; any other (beside, in a new
// window, copied) is the browser's, as is every click while the server is away.
function element(tag, kind, parent) {
  const made = document.createElement(tag);
  made.className = kind;
  parent.append(made);
  return made;
}

function built(root, data) {
  const shape = data.groups.map(([title, links]) => `${title} ${links.length}`).join();
  if (root.dataset.shape === shape) return;
  root.dataset.shape = shape;
  root.className = data.kind;
  root.setAttribute("aria-label", data.label);
  root.replaceChildren();
  for (const [title, links] of data.groups) {
    const group = element("div", "group", root);
    if (title) element("b", "title", group).textContent = title;
    for (const link of links) {
      const anchor = element("a", "link", group);
      element("span", "name", anchor);
      if (link.text) element("span", "text", anchor);
    }
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector("nav");
  built(root, data);
  const links = data.groups.flatMap(([, group]) => group);
  const anchors = [...root.querySelectorAll("a")];
  for (const [place, link] of links.entries()) {
    const anchor = anchors[place];
    anchor.href = `./${link.page.replaceAll("_", "-")}?${link.query ?? data.query}`;
    for (const part of anchor.children) {
      if (part.textContent !== link[part.className]) part.textContent = link[part.className];
    }
    if (link.page === data.current) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  root.onclick = (event) => {
    const place = anchors.indexOf(event.target.closest("a"));
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
    if (place < 0 || !plain || !document.querySelector("[data-test-connection-state=CONNECTED]")) return;
    event.preventDefault();
    setTriggerValue(`asked${place}`, true);
  };
}
