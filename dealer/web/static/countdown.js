// Counts down to the time of a paragraph, and reloads the page when it has come.
"use strict";

for (const paragraph of document.querySelectorAll(".countdown")) {
  const output = paragraph.querySelector("strong");
  const until = 1000 * Number(paragraph.dataset.until);
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

  const show = () => {
    let seconds = Math.ceil((until - Date.now()) / 1000);
    if (seconds <= 0) {
      output.textContent = "a moment";
      // The server closes an event within a second or two.
      setTimeout(() => location.reload(), 3000);
      return;
    }
    const parts = [];
    for (const [name, length] of units) {
      const count = Math.floor(seconds / length);
      seconds -= count * length;
      if (count || parts.length) parts.push(`${count} ${name}`);
    }
    output.textContent = parts.slice(0, 2).join(" ");
    setTimeout(show, 1000);
  };
  show();
}
