// Before an audience the keys of a keyboard or of a clicker turn pages and move the first number. A printed page says
// where it is from and of which day.
let footer;

function presented(event) {
  const end = document.querySelector(".st-key-end button");
  const number = document.querySelector(".st-key-controls input[role=spinbutton]");
  const free = event.target === document.body || event.target === number || event.target.tagName === "BUTTON";
  if (!end || !free || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1 }[event.key];
  if (step) {
    const pages = [...document.querySelectorAll("nav.pages a")];
    pages[pages.findIndex((page) => page.ariaCurrent === "page") + step]?.click();
  } else if (event.key === "Escape") end.click();
  else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && number && event.target !== number) {
    number.focus();
    number.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true, cancelable: true }));
  } else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function printed() {
  if (!footer) {
    footer = document.createElement("footer");
    footer.id = "printed";
    document.body.append(footer);
  }
  const words = `${location.href} · ${new Date().toLocaleDateString("en-CA")}`;
  if (footer.textContent !== words) footer.textContent = words;
}

window.addEventListener("keydown", presented, true);

