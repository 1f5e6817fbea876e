// A complete ACPC player for node, for any game of the file that ARENA_GAME names, limit or no-limit.
//
//     ARENA_GAME=my.game node client.js HOST PORT          (the arena sets the variable)
//
// It acts at random: it raises one time in four, by any legal size, folds one time in eight, and calls otherwise.
// docs/connect-a-bot.md explains the conversation and the rules of sizes, docs/game-files.md the file.
"use strict";
const fs = require("node:fs");
const net = require("node:net");

const game = readGame(process.env.ARENA_GAME);
const [host, port] = process.argv.slice(-2);

/** The values of each line of a game file, by its key in lower case. */
function readGame(path) {
  const found = { firstplayer: [1, 1, 1, 1], maxraises: [255, 255, 255, 255], stack: Array(4).fill(2 ** 31 - 1) };
  for (const line of fs.readFileSync(path, "latin1").toLowerCase().split(/\r?\n/)) {
    const [key, ...values] = line.split(/[\s=]+/);
    found[key] = values.filter((value) => value !== "").map(Number);
  }
  return found;
}

/** Replay the betting of a hand: whose turn it is (-1 if the hand is over), and what that player may do. */
function replay(betting) {
  const players = game.numplayers[0];
  const bigBlind = Math.max(...game.blind);
  const spent = game.blind.slice(0, players);
  const folded = Array(players).fill(false);
  const canAct = (player) => !folded[player] && spent[player] < game.stack[player];
  const able = () => spent.filter((_, player) => canAct(player)).length;
  const isOver = () => folded.filter((is) => !is).length < 2;
  let round, raises, actions, waiting, turn;
  let [high, least] = [bigBlind, 2 * bigBlind];

  const pass = () => {
    while (!waiting.has(turn)) turn = (turn + 1) % players;
  };
  const begin = (next) => {
    [round, raises, actions, turn] = [next, 0, 0, game.firstplayer[next] - 1];
    waiting = new Set(spent.keys());
    spent.forEach((_, player) => canAct(player) || waiting.delete(player));
    if (next > 0) least = high + bigBlind;
    // With one player left who has chips, there is nobody to bet against: the cards are dealt to the end.
    if (isOver() || waiting.size < (next > 0 ? 2 : 1)) waiting.clear();
    else pass();
  };

  begin(0);
  for (const [action, letter, size] of betting.matchAll(/([fcr])(\d*)|\//g)) {
    if (action === "/") {
      begin(round + 1);
      continue;
    }
    actions += 1;
    waiting.delete(turn);
    if (letter === "f") folded[turn] = true;
    if (letter === "c") spent[turn] = Math.min(high, game.stack[turn]);
    if (letter === "r") {
      const total = size === "" ? Math.min(high + game.raisesize[round], game.stack[turn]) : Number(size);
      least = Math.max(least, 2 * total - high);
      spent[turn] = high = total;
      raises += 1;
      spent.forEach((_, player) => player !== turn && canAct(player) && waiting.add(player));
    }
    if (isOver()) waiting.clear();
    if (waiting.size > 0) pass();
  }
  if (waiting.size === 0) return { turn: -1 };
  const stack = game.stack[turn];
  return {
    turn,
    canFold: spent[turn] < high,
    canRaise:
      raises < game.maxraises[round] &&
      able() > 1 &&
      actions <= 64 - players &&
      ("limit" in game || high < stack),
    smallest: Math.min(least, stack),
    largest: stack,
  };
}

/** The action to take: f, c, or r with a size in a no-limit game. */
function act({ canFold, canRaise, smallest, largest }) {
  const chance = Math.random();
  if (canRaise && chance < 1 / 4) {
    // Small sizes more often than large ones.
    return "limit" in game ? "r" : `r${smallest + Math.floor((largest - smallest) * Math.random() ** 4)}`;
  }
  return canFold && chance > 7 / 8 ? "f" : "c";
}

const dealer = net.connect(Number(port), host, () => dealer.write("VERSION:2.0.0\r\n"));
let received = "";
dealer.setNoDelay(true);
dealer.setEncoding("latin1");
dealer.on("error", () => process.exit(1));
dealer.on("end", () => dealer.end());
dealer.on("data", (text) => {
  const lines = (received + text).split("\n");
  received = lines.pop();
  for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
    if (!line.startsWith("MATCHSTATE:")) continue;
    const [, position, , betting] = line.split(":");
    const now = replay(betting);
    if (now.turn === Number(position)) dealer.write(`${line}:${act(now)}\r\n`);
  }
});
