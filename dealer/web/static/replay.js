// Steps through a hand without loading it again: the page holds every step, and without this script its links do the same.
"use strict";
{
  const replay = document.getElementById("replay");
  const scenes = [...replay.querySelectorAll(".scene")];
  const links = [...replay.querySelectorAll(".steps a")];
  const progress = document.getElementById("progress");
  let step = Number(replay.dataset.step);

  const show = to => {
    step = Math.max(0, Math.min(scenes.length - 1, to));
    scenes.forEach((scene, at) => { scene.hidden = at !== step; });
    links.forEach((link, at) => at === step ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current"));
    progress.textContent = `step ${step} of ${scenes.length - 1}: ${links[step].textContent}`;
    history.replaceState(null, "", `?step=${step}`);
    links[step].scrollIntoView({ block: "nearest" });
  };
  const ways = {
    first: () => show(0),
    back: () => show(step - 1),
    on: () => show(step + 1),
    last: () => show(scenes.length - 1),
  };
  for (const [id, go] of Object.entries(ways)) {
    document.getElementById(id).addEventListener("click", event => { event.preventDefault(); go(); });
  }
  for (const link of links) {
    link.addEventListener("click", event => { event.preventDefault(); show(Number(link.dataset.step)); });
  }
  const keys = { ArrowLeft: ways.back, ArrowRight: ways.on, Home: ways.first, End: ways.last };
  const hands = { j: "next-hand", k: "previous-hand" };
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    if (event.target.closest("pre") && event.key.startsWith("Arrow")) return;
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    } else if (hands[event.key]) {
      document.getElementById(hands[event.key])?.click();
    }
  });
}
