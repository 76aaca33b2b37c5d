// A list is searched by the letters and digits of its names in their order. So an id of the hub that is known becomes
// the name of its model, and signs between the words of another spelling are left out: qwen3-235 finds Qwen3 235B-A22B.
document.addEventListener(
  "input",
  (event) => {
    const input = event.target;
    if (input.getAttribute?.("role") !== "combobox") return;
    setTimeout(() => {
      // by now Streamlit has taken the name of what was chosen out of the entry, if the reader types on behind it
      if (input.selectionStart !== input.value.length) return;
      const name = HUB[input.value.trim().toLowerCase()];
      const spelt = name ?? input.value.replace(/^.*\//, "").replace(/[-_]+/g, "");
      if (spelt !== input.value) write(input, spelt);
    });
  },
  true,
);

