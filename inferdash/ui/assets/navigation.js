// Builds the links once, and after that changes only their addresses, their words and the mark of the open page, so
// that a click that meets a new answer is not lost. A plain click is a word to the server; any other (beside, in a new
// window, copied) is the browser's, as is every click while the server is away.
//
// The row of pages has the groups first, always in the same places, and beside them the pages of the open group; those
// of another lie in a menu below its name. On a phone all of it is one menu.
function element(tag, kind, parent) {
  const made = document.createElement(tag);
  made.className = kind;
  parent.append(made);
  return made;
}

function button(kind, parent, root) {
  const made = element("button", kind, parent);
  made.type = "button";
  made.onclick = () => {
    const opens = made.ariaExpanded !== "true";
    fold(root);
    made.ariaExpanded = String(opens);
    made.opened.toggleAttribute("data-open", opens);
    made.opened.style.left = `${made.offsetLeft}px`;
    if (opens) made.opened.querySelector("a").focus();
  };
  return made;
}

function fold(root) {
  for (const one of root.querySelectorAll("button")) {
    one.ariaExpanded = "false";
    one.opened.removeAttribute("data-open");
  }
}

function built(root, data) {
  const shape = data.groups.map(([title, links]) => `${title} ${links.length}`).join();
  if (root.dataset.shape === shape) return;
  root.dataset.shape = shape;
  root.className = data.kind;
  root.setAttribute("aria-label", data.label);
  root.replaceChildren();
  const named = data.groups.some(([title]) => title);
  const menu = named && button("menu", root, root);
  const whole = element("div", "whole", root);
  const titles = named && element("div", "titles", whole);
  if (menu) menu.opened = whole;
  for (const [title, links] of data.groups) {
    const name = title && button("title", titles, root);
    const group = element("div", "group", whole);
    if (title) {
      name.textContent = group.dataset.title = title;
      name.opened = group;
    }
    for (const link of links) {
      const anchor = element("a", "link", group);
      element("span", "name", anchor);
      if (link.text) element("span", "text", anchor);
    }
  }
  root.onkeydown = (event) => {
    const open = event.key === "Escape" && root.querySelector("button[aria-expanded=true]");
    if (!open) return;
    fold(root);
    open.focus();
  };
  root.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !root.contains(event.relatedTarget)) fold(root);
  });
  document.addEventListener("pointerdown", (event) => root.contains(event.target) || fold(root));
  fold(root);
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
  for (const name of root.querySelectorAll(".title")) {
    const here = Boolean(name.opened.querySelector("[aria-current]"));
    name.toggleAttribute("data-here", here);
    name.opened.toggleAttribute("data-here", here);
  }
  const menu = root.querySelector(".menu");
  const here = links.find((link) => link.page === data.current)?.name;
  if (menu && menu.textContent !== here) menu.textContent = here ?? "Pages";
  root.onclick = (event) => {
    const place = anchors.indexOf(event.target.closest("a"));
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
    if (place < 0 || !plain || !document.querySelector("[data-test-connection-state=CONNECTED]")) return;
    event.preventDefault();
    fold(root);
    setTriggerValue(`asked${place}`, true);
  };
}
