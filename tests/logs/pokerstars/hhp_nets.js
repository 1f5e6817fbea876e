// Reads hand histories from standard input with hhp and prints what each hand says
// each player won or lost, as JSON: [{"Ann": 5, "Bob": -5}, ...].
'use strict'

const hhp = require('hhp')

function nets(hand) {
  const won = {}
  for (const seat of hand.seats) won[seat.player] = 0
  for (const street of [hand.posts, hand.preflop, hand.flop, hand.turn, hand.river]) {
    const putIn = {}
    if (street === hand.preflop) for (const post of hand.posts) putIn[post.player] = post.amount
    for (const action of street) {
      const before = putIn[action.player] || 0
      let now = before
      if (action.type === 'sb' || action.type === 'bb' || action.type === 'bet') now = before + action.amount
      else if (action.type === 'call') now = before + action.amount
      else if (action.type === 'raise') now = action.raiseTo
      else if (action.type === 'bet-returned' || action.type === 'collect') won[action.player] += action.amount
      won[action.player] -= now - before
      putIn[action.player] = now
    }
  }
  for (const action of hand.showdown) if (action.type === 'collect') won[action.player] += action.amount
  return won
}

const text = require('fs').readFileSync(0, 'utf8')
const all = hhp.extractHands(text).map(lines => nets(hhp.parseHand(lines)))
process.stdout.write(JSON.stringify(all))
