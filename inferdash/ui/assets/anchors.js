// Each section has an anchor, its title in small letters with hyphens, and a link that ends with it opens the section.
let asked = decodeURIComponent(location.hash.slice(1));

function anchors() {
  for (const title of document.querySelectorAll("[data-testid=stMain] .stExpander summary")) {
    const words = title.querySelector("[data-testid=stMarkdownContainer]") ?? title;
    const anchor = words.textContent.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join("-") ?? "";
    if (title.id !== anchor) title.id = anchor;
    if (anchor !== asked || !anchor) continue;
    asked = "";
    if (!title.parentElement.open) title.click();
    title.scrollIntoView();
  }
}

