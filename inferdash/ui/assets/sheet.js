// On a phone the controls of a page are a sheet that comes from below; a button at the lower edge opens and closes it.
let sheet;

function sheets() {
  if (!sheet) {
    sheet = document.createElement("section");
    sheet.id = "sheet";
    sheet.setAttribute("aria-label", "Inputs");
    const button = document.createElement("button");
    button.type = "button";
    sheet.append(button);
    button.onclick = () => {
      document.documentElement.toggleAttribute("data-sheet");
      sheets();
    };
    document.body.append(sheet);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !("sheet" in document.documentElement.dataset)) return;
      delete document.documentElement.dataset.sheet;
      sheets();
    });
  }
  const open = "sheet" in document.documentElement.dataset;
  const button = sheet.firstChild;
  const words = open ? "Done" : "Change the inputs";
  if (button.textContent !== words) button.textContent = words;
  button.ariaExpanded = String(open);
  sheet.hidden = !document.querySelector(".st-key-controls");
  const app = document.querySelector("[data-testid=stApp]");
  if (!app) return;
  const { backgroundColor, color } = getComputedStyle(app);
  document.documentElement.style.setProperty("--page", backgroundColor);
  document.documentElement.style.setProperty("--strong", color);
}

