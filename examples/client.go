// A complete ACPC player in Go, for limit and no-limit games of two players.
//
//	go build -o go_client examples/client.go
//	arena play nolimit ./go_client random
//
// It raises by the pot with an ace or a pair in its hole cards, folds to bets of half the pot and more, and calls
// otherwise. docs/protocol.md explains the conversation and the sizes, docs/game-files.md the file of ARENA_GAME.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// Game is what the file of a game says about its betting. Positions and rounds count from 0.
type Game struct {
	isLimit                                               bool
	players, stacks, blinds, raiseSizes, first, maxRaises []int
}

// Betting is the state after the actions of a hand.
type Betting struct {
	round, raises, turn int
	isOver              bool
	spent               [2]int // chips of each position in this hand
	high, least         int    // highest total of the hand, smallest total of a raise
}

func readGame(path string) (*Game, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	game := &Game{
		isLimit:    true,
		stacks:     []int{2147483647, 2147483647},
		raiseSizes: []int{0, 0, 0, 0},
		first:      []int{1, 1, 1, 1},
		maxRaises:  []int{255, 255, 255, 255},
	}
	for _, line := range strings.Split(strings.ToLower(string(text)), "\n") {
		words := strings.Fields(strings.ReplaceAll(line, "=", " "))
		if len(words) == 0 {
			continue
		}
		var values []int
		for _, word := range words[1:] {
			if value, err := strconv.Atoi(word); err == nil {
				values = append(values, value)
			}
		}
		switch words[0] {
		case "nolimit":
			game.isLimit = false
		case "numplayers":
			game.players = values
		case "stack":
			game.stacks = values
		case "blind":
			game.blinds = values
		case "raisesize":
			game.raiseSizes = values
		case "firstplayer":
			game.first = values
		case "maxraises":
			game.maxRaises = values
		}
	}
	if len(game.players) != 1 || game.players[0] != 2 || len(game.blinds) != 2 {
		return nil, fmt.Errorf("%s is not a game for two players", path)
	}
	return game, nil
}

func smaller(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// replay plays the betting of a state, such as "r300c/cr750".
func (game *Game) replay(text string) Betting {
	bigBlind := larger(game.blinds[0], game.blinds[1])
	now := Betting{turn: game.first[0] - 1, high: bigBlind, least: 2 * bigBlind}
	copy(now.spent[:], game.blinds)
	for i := 0; i < len(text); i++ {
		stack := game.stacks[now.turn]
		switch text[i] {
		case '/':
			now.round++
			now.raises = 0
			now.turn = game.first[now.round] - 1
			now.least = now.high + bigBlind
			continue
		case 'f':
			now.isOver = true
		case 'c':
			now.spent[now.turn] = smaller(now.high, stack)
		case 'r':
			end := i + 1
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			total, err := strconv.Atoi(text[i+1 : end])
			if err != nil { // a limit game writes no size
				total = smaller(now.high+game.raiseSizes[now.round], stack)
			}
			i = end - 1
			now.least = larger(now.least, 2*total-now.high)
			now.spent[now.turn] = total
			now.high = total
			now.raises++
		}
		now.turn = 1 - now.turn
	}
	return now
}

// choose is the strategy; it returns an action such as "c" or "r900".
func (game *Game) choose(now Betting, cards string) string {
	me := now.turn
	stack := game.stacks[me]
	price := smaller(now.high, stack) - now.spent[me]
	pot := now.spent[0] + now.spent[1]
	isPair := len(cards) == 4 && cards[0] == cards[2]
	isStrong := isPair || strings.Contains(cards, "A")
	canRaise := now.raises < game.maxRaises[now.round] && now.spent[1-me] < game.stacks[1-me] &&
		(game.isLimit || now.high < stack)

	if isStrong && canRaise && now.raises < 2 {
		if game.isLimit {
			return "r"
		}
		// After a call the pot is twice the highest total, so a raise by the pot makes three times that total.
		return fmt.Sprintf("r%d", smaller(larger(3*now.high, now.least), stack))
	}
	if !isStrong && now.high > now.spent[me] && 2*price >= pot {
		return "f"
	}
	return "c"
}

// replyTo returns the reply to a line of the dealer, or "" if none is due.
func (game *Game) replyTo(line string) string {
	fields := strings.Split(line, ":")
	if len(fields) != 5 || fields[0] != "MATCHSTATE" {
		return ""
	}
	position, err := strconv.Atoi(fields[1])
	holes := strings.Split(strings.SplitN(fields[4], "/", 2)[0], "|")
	if err != nil || position > 1 || len(holes) != 2 || holes[1-position] != "" {
		return "" // the cards of the other player are shown at the end only
	}
	now := game.replay(fields[3])
	if now.isOver || now.turn != position {
		return ""
	}
	return line + ":" + game.choose(now, holes[position]) + "\r\n"
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: ARENA_GAME=FILE %s HOST PORT", os.Args[0]))
	}
	game, err := readGame(os.Getenv("ARENA_GAME"))
	if err != nil {
		fail(err)
	}
	address := os.Args[len(os.Args)-2:]
	dealer, err := net.Dial("tcp", net.JoinHostPort(address[0], address[1]))
	if err != nil {
		fail(err)
	}
	fmt.Fprint(dealer, "VERSION:2.0.0\r\n")
	lines := bufio.NewScanner(dealer) // it removes CR LF
	for lines.Scan() {
		if reply := game.replyTo(lines.Text()); reply != "" {
			fmt.Fprint(dealer, reply)
		}
	}
}
