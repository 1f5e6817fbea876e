// Updates parts of a page from server-sent events; each event replaces a whole part.
"use strict";
{
  const AGAIN_MS = 2000;

  // Rows are identified by their first link, so that a new row above does not redirect a click.
  const keyOf = node => node.nodeName === "TR" ? node.querySelector("a")?.getAttribute("href") : undefined;
  const isLike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
  // The page has white space around a part, and events have none.
  const contentOf = node => [...node.childNodes].filter(child => !node.dataset.events || child.nodeType === Node.ELEMENT_NODE);

  // Changes only nodes that differ, so that a click in progress still ends on its link.
  const adapt = (old, fresh) => {
    if (old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
    if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    const after = contentOf(fresh);
    // Removes nodes first, because a node that moves loses a click in progress.
    const rest = contentOf(old).filter(child => !keyOf(child) || after.some(other => isLike(child, other)) || child.remove());
    for (const child of after) {
      const at = rest.findIndex(other => isLike(other, child));
      if (at < 0) { old.insertBefore(child, rest[0] ?? null); continue; }
      const [same] = rest.splice(at, 1);
      if (at > 0) old.insertBefore(same, rest[0]);
      adapt(same, child);
    }
    rest.forEach(child => child.remove());
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
      // A browser reconnects after a lost connection, but not after an error status.
      if (events === place.events && events.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS, place);
    });
  };

  const places = document.querySelectorAll("[data-events]");
  places.forEach(follow);
  // A browser has few connections to a server, so hidden pages close theirs.
  document.addEventListener("visibilitychange", () => places.forEach(place => {
    place.events?.close();
    if (!place.isOver) follow(place);
  }));
}
