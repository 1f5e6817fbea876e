// Shows what goes on: each event holds the whole piece of the page that it replaces.
"use strict";
{
  const AGAIN_MS = 2000;

  const follow = place => {
    const events = new EventSource(place.dataset.events);
    events.addEventListener("state", event => {
      const before = place.querySelector(".poker-table");
      const open = [...place.querySelectorAll("details")].map(details => details.open);
      place.innerHTML = event.data;
      markNew(before, place.querySelector(".poker-table"));
      place.querySelectorAll("details").forEach((details, at) => { if (at in open) details.open = open[at]; });
    });
    events.addEventListener("over", () => events.close());
    events.addEventListener("error", () => {
      // A browser tries again by itself only after a lost connection, not after an answer that says "not now".
      if (events.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS, place);
    });
  };

  document.querySelectorAll("[data-events]").forEach(follow);
}
