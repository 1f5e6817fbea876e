// Marks what is new on a drawing of a table that takes the place of another: chips that move, cards that turn.
"use strict";
function markNew(before, after) {
  if (!before || !after || before === after) return;
  const all = (table, what) => [...table.querySelectorAll(what)];
  const [seats, board] = [all(before, ".seat"), all(before, ".board .card")];
  all(after, ".board .card").forEach((card, at) => card.classList.toggle("fresh", at >= board.length));
  all(after, ".seat").forEach((seat, at) => {
    const old = seats[at], bet = seat.querySelector(".bet");
    bet?.classList.toggle("fresh", old?.querySelector(".bet")?.textContent !== bet.textContent);
    const isHidden = Boolean(old?.querySelector(".card.back"));
    all(seat, ".hole .card:not(.back)").forEach(card => card.classList.toggle("fresh", isHidden));
  });
}
