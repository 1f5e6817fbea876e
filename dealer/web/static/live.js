// Shows what goes on: each event holds the whole piece of the page that it replaces.
"use strict";
{
  const AGAIN_MS = 2000;

  // Changes only what differs, so that a click that has begun on a link still ends on it.
  const adapt = (old, fresh) => {
    if (old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
    if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
    after.forEach((child, at) => before[at] ? adapt(before[at], child) : old.append(child));
    before.slice(after.length).forEach(child => child.remove());
  };

  const show = (place, html) => {
    const table = place.querySelector(".poker-table");
    const fresh = place.cloneNode(false);
    fresh.innerHTML = html;
    if (!table) { adapt(place, fresh); return; }
    place.innerHTML = html;
    markNew(table, place.querySelector(".poker-table"));
  };

  const follow = place => {
    if (document.hidden) return;
    const events = place.events = new EventSource(place.dataset.events);
    events.addEventListener("state", event => { if (event.data) show(place, event.data); });
    events.addEventListener("over", () => { events.close(); place.isOver = true; });
    events.addEventListener("error", () => {
      // A browser tries again by itself only after a lost connection, not after an answer that says "not now".
      if (events === place.events && events.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS, place);
    });
  };

  const places = document.querySelectorAll("[data-events]");
  places.forEach(follow);
  // A browser has few connections to a server: pages that nobody sees leave them to others.
  document.addEventListener("visibilitychange", () => places.forEach(place => {
    place.events?.close();
    if (!place.isOver) follow(place);
  }));
}
