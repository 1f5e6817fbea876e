// Stores the theme and the colours of suits, and adds buttons that copy commands.
"use strict";
{
  const keep = (name, value) => {
    if (value) document.documentElement.dataset[name] = value; else delete document.documentElement.dataset[name];
    localStorage.setItem(name, value);
  };
  const kept = name => localStorage.getItem(name) ?? "";
  ["deck", "theme"].forEach(name => keep(name, kept(name)));
  addEventListener("DOMContentLoaded", () => {
    for (const choice of document.querySelectorAll("[data-choice]")) {
      choice.value = kept(choice.dataset.choice);
      choice.addEventListener("change", () => keep(choice.dataset.choice, choice.value));
    }
    document.querySelector("footer").hidden = false;
    for (const text of document.querySelectorAll(".copied")) {
      const button = document.createElement("button");
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        getSelection().selectAllChildren(text);
        // Browsers have the clipboard only on encrypted pages and on pages of this machine.
        if (navigator.clipboard) await navigator.clipboard.writeText(text.textContent);
        else document.execCommand("copy");
        button.textContent = "Copied";
      });
      text.after(" ", button);
    }
  });
}
