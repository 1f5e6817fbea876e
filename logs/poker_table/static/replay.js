// Step through a hand without loading the page again. It contains every step, and its links work without this script.
"use strict";
function replay(place) {
  const scenes = [...place.querySelectorAll(".scene")];
  const links = [...place.querySelectorAll(".steps [data-step]")];
  const control = name => place.querySelector(`[data-go="${name}"]`);
  let step = Number(place.dataset.step);
  let playing = 0;

  const show = target => {
    const before = scenes[step];
    step = Math.max(0, Math.min(scenes.length - 1, target));
    scenes.forEach((scene, index) => { scene.hidden = index !== step; });
    markNew(before, scenes[step]);
    links.forEach((link, index) => index === step ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current"));
    place.querySelector(".progress .number").textContent = step;
    place.querySelector(".progress .unseen").textContent = links[step].textContent;
    control("scrub").value = step;
    const list = links[step].closest(".steps");
    const line = links[step].closest("li");
    list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
    if (place.dataset.address !== "no") history.replaceState(null, "", `?step=${step}`);
  };
  const stop = () => { clearInterval(playing); playing = 0; control("play").textContent = "Play"; };
  const play = () => {
    if (step === scenes.length - 1) show(0);
    control("play").textContent = "Pause";
    playing = setInterval(() => { show(step + 1); if (step === scenes.length - 1) stop(); }, Number(control("speed").value));
  };
  const actions = {
    first: () => show(0),
    back: () => show(step - 1),
    on: () => show(step + 1),
    last: () => show(scenes.length - 1),
    play: () => playing ? stop() : play(),
  };
  for (const [name, act] of Object.entries(actions)) {
    control(name).addEventListener("click", event => { event.preventDefault(); if (name !== "play") stop(); act(); });
  }
  for (const link of place.querySelectorAll("[data-step]")) {
    link.addEventListener("click", event => { event.preventDefault(); stop(); show(Number(link.dataset.step)); });
  }
  control("scrub").addEventListener("input", event => { stop(); show(Number(event.target.value)); });
  control("speed").addEventListener("change", () => { if (playing) { stop(); play(); } });
  place.querySelectorAll(".scripted").forEach(element => { element.hidden = false; });
  return actions;
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
