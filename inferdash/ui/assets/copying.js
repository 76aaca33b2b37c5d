// Where the clipboard is closed to a page (plain http on a network), a selected field and the old command still copy.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    (document.querySelector("[role=dialog]") ?? document.body).append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = async () => {
    button.textContent = (await copy(data.text)) ? "Copied" : "Select the text below and copy it";
    setTimeout(() => (button.textContent = data.label), 2000);
  };
}
