// Steps through hands without loading them again: the page holds every step, and without this script its links do the same.
"use strict";
function replay(place) {
  const scenes = [...place.querySelectorAll(".scene")], links = [...place.querySelectorAll(".steps [data-step]")];
  const part = what => place.querySelector(`[data-go="${what}"]`);
  let step = Number(place.dataset.step), playing = 0;

  const show = to => {
    const before = scenes[step];
    step = Math.max(0, Math.min(scenes.length - 1, to));
    scenes.forEach((scene, at) => { scene.hidden = at !== step; });
    markNew(before, scenes[step]);
    links.forEach((link, at) => at === step ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current"));
    place.querySelector(".progress .number").textContent = step;
    place.querySelector(".progress .unseen").textContent = links[step].textContent;
    part("scrub").value = step;
    const list = links[step].closest(".steps"), line = links[step].closest("li");
    list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
    if (place.dataset.address !== "no") history.replaceState(null, "", `?step=${step}`);
  };
  const stop = () => { clearInterval(playing); playing = 0; part("play").textContent = "Play"; };
  const play = () => {
    if (step === scenes.length - 1) show(0);
    part("play").textContent = "Pause";
    playing = setInterval(() => { show(step + 1); if (step === scenes.length - 1) stop(); }, Number(part("speed").value));
  };
  const ways = {
    first: () => show(0),
    back: () => show(step - 1),
    on: () => show(step + 1),
    last: () => show(scenes.length - 1),
    play: () => playing ? stop() : play(),
  };
  for (const [what, go] of Object.entries(ways)) {
    part(what).addEventListener("click", event => { event.preventDefault(); if (what !== "play") stop(); go(); });
  }
  for (const link of place.querySelectorAll("[data-step]")) {
    link.addEventListener("click", event => { event.preventDefault(); stop(); show(Number(link.dataset.step)); });
  }
  part("scrub").addEventListener("input", event => { stop(); show(Number(event.target.value)); });
  part("speed").addEventListener("change", () => { if (playing) { stop(); play(); } });
  place.querySelectorAll(".scripted").forEach(one => { one.hidden = false; });
  return ways;
}
{
  const [first] = [...document.querySelectorAll(".replay")].map(replay);
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play" };
  const hands = { j: "next-hand", k: "previous-hand" };
  if (first && !document.querySelector("[data-address]")) addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select, button, summary")) return;
    if (event.target.closest("pre") && event.key.startsWith("Arrow")) return;
    if (event.key === " " && event.target.closest("a")) return;
    if (keys[event.key]) {
      event.preventDefault();
      first[keys[event.key]]();
    } else if (hands[event.key]) {
      document.getElementById(hands[event.key])?.click();
    }
  });
}
