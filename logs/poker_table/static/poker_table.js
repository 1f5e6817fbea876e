// Mark the changes from one drawing of a table to the next: chips that move, cards that are turned over.
"use strict";
function markNew(before, after) {
  if (!before || !after || before === after) return;
  const all = (element, selector) => [...element.querySelectorAll(selector)];
  const seats = all(before, ".seat");
  const board = all(before, ".board .card");
  all(after, ".board .card").forEach((card, index) => card.classList.toggle("fresh", index >= board.length));
  all(after, ".seat").forEach((seat, index) => {
    const old = seats[index];
    const bet = seat.querySelector(".bet");
    bet?.classList.toggle("fresh", old?.querySelector(".bet")?.textContent !== bet.textContent);
    const isHidden = Boolean(old?.querySelector(".card.back"));
    all(seat, ".hole .card:not(.back)").forEach(card => card.classList.toggle("fresh", isHidden));
  });
}
