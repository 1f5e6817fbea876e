// Keeps how a person wants pages to look: the colours of the suits, light or dark. Lets commands be copied.
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
    // Browsers have a clipboard only for pages that came encrypted, or from this machine.
    if (navigator.clipboard) for (const text of document.querySelectorAll(".copied")) {
      const button = document.createElement("button");
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      });
      text.after(" ", button);
    }
  });
}
