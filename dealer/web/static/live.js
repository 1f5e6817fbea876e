// Shows what goes on: each event holds the whole piece of the page that it replaces.
"use strict";
for (const place of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(place.dataset.events);
  events.addEventListener("state", event => {
    const open = [...place.querySelectorAll("details")].map(details => details.open);
    place.innerHTML = event.data;
    place.querySelectorAll("details").forEach((details, at) => { if (at in open) details.open = open[at]; });
  });
  events.addEventListener("over", () => events.close());
}
