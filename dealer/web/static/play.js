// Page of a table: sends entries without a reload, polls for changes and handles keys.
// Without this script, the same forms work with a page for each step.
"use strict";
(() => {
  const seat = document.getElementById("seat"), lost = document.getElementById("lost");
  const auto = document.getElementById("auto"), NEXT_MS = 4000;
  let isSending = false, isLeaving = false, waiting = null, clock = null, next = null;

  auto.checked = localStorage.getItem("next hand") !== "asks";
  auto.closest(".scripted").hidden = false;
  auto.addEventListener("change", () => { localStorage.setItem("next hand", auto.checked ? "deals" : "asks"); begin(); });

  const table = () => seat.querySelector(".table");
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  function show(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector(".table");
    if (!fresh) { location.reload(); return; }
    const before = seat.querySelector(".poker-table"), typed = seat.querySelector("#size"), same = table().dataset.moment === fresh.dataset.moment;
    const value = same && typed ? typed.value : "";
    const focused = seat.contains(document.activeElement) ? document.activeElement.id || "seat" : "";
    table().replaceWith(document.adoptNode(fresh));
    markNew(before, seat.querySelector(".poker-table"));
    begin();
    if (value) setSize(value);
    if (focused) (same && document.getElementById(focused) || seat).focus({preventScroll: true});
  }

  // The button shows the size that it sends, in chips and big blinds.
  function setSize(value) {
    const size = seat.querySelector("#size"), slider = seat.querySelector("#slider");
    if (!size) return;
    size.value = value;
    const button = seat.querySelector('[data-key="size"]'), chips = Number(value), isNumber = /^\d+$/.test(value);
    if (isNumber) slider.value = value;
    const blinds = (chips / Number(button.dataset.blind)).toLocaleString("en", {maximumFractionDigits: 1});
    const amount = isNumber ? `${chips.toLocaleString("en")} (${blinds} bb)` : value;
    button.querySelector(".label").textContent = amount ? `${button.dataset.verb} ${amount}` : button.dataset.verb.split(" ")[0];
  }

  function begin() {
    const slider = seat.querySelector("#slider"), size = seat.querySelector("#size");
    if (slider && size) {
      slider.hidden = false;
      slider.addEventListener("input", () => {
        const near = Number(slider.max) - Number(slider.value) < Number(slider.step);
        setSize(near ? slider.max : slider.value);
      });
      size.addEventListener("input", () => setSize(size.value));
      for (const button of seat.querySelectorAll("[data-size]")) {
        button.addEventListener("click", event => { event.preventDefault(); setSize(button.dataset.size); });
      }
    }
    clearTimeout(next);
    const following = buttonOf("n");
    if (following && auto.checked && following.textContent.startsWith("Next")) next = setTimeout(() => following.click(), NEXT_MS);
    clearInterval(clock);
    const left = Number(table().dataset.left), shown = seat.querySelector(".clock"), began = Date.now();
    if (shown) clock = setInterval(() => {
      shown.textContent = `${Math.max(0, Math.round(left - (Date.now() - began) / 1000))} s left`;
    }, 250);
  }

  async function send(form, button) {
    if (isSending) return;
    isSending = true;
    seat.classList.add("busy");
    const fields = new URLSearchParams(new FormData(form));
    fields.set(button.name, button.value);
    const moment = fields.get("moment");
    // Repeated until it has arrived. A repeated entry counts once.
    for (;;) {
      try {
        const answer = await fetch(form.action, {method: "POST", body: fields, headers: {"X-Part": "1"}});
        if (answer.status >= 500) throw new Error();
        const text = await answer.text();
        if ([200, 409, 422].includes(answer.status)) show(text); else location.reload();
        lost.hidden = true;
        break;
      } catch {
        lost.hidden = false;
        await wait(1000);
        if (table().dataset.moment !== moment) break;
      }
    }
    isSending = false;
    seat.classList.remove("busy");
    if (waiting) waiting.abort();
  }

  async function follow() {
    while (!isLeaving) {
      waiting = new AbortController();
      try {
        const seen = encodeURIComponent(table().dataset.tag);
        const answer = await fetch(`${seat.dataset.part}?seen=${seen}`, {signal: waiting.signal});
        if (answer.status >= 500) throw new Error();
        if (answer.status === 200) { const text = await answer.text(); if (!isSending) show(text); }
        else if (answer.status !== 204) { if (!isLeaving) location.reload(); return; }
        lost.hidden = true;
      } catch (error) {
        if (error.name !== "AbortError") { lost.hidden = false; await wait(1000); }
      }
      while (isSending) await wait(50);
    }
  }

  const buttonOf = (key) => seat.querySelector(`button[data-key="${key}"]`);

  seat.addEventListener("submit", (event) => {
    event.preventDefault();
    send(event.target, event.submitter || event.target.querySelector("button"));
  });

  // No polling once the person leaves: a request would resume the table, and its response cancel the navigation.
  document.addEventListener("submit", (event) => {
    if (seat.contains(event.target)) return;
    isLeaving = true;
    waiting.abort();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const size = seat.querySelector("#size"), at = event.target;
    if (at === size) { if (event.key === "Escape") size.blur(); return; }
    if (at.matches("input:not([type=checkbox]), select, textarea, summary, a")) return;
    if (at.matches("button, input") && (event.key === "Enter" || event.key === " ")) return;
    const key = event.key === "Enter" ? "n" : event.key === "k" ? "c" : event.key;
    if (size && (key === "r" || /^[0-9]$/.test(key))) {
      event.preventDefault();
      setSize(key === "r" ? "" : key);
      size.focus();
    } else if (/^[fcrn]$/.test(key) && buttonOf(key)) {
      event.preventDefault();
      buttonOf(key).click();
    }
  });

  seat.tabIndex = -1;
  begin();
  follow();
})();
