// A complete ACPC player in Rust, for limit and no-limit games of two players.
//
//     rustc -O -o rust_client examples/client.rs
//     arena play nolimit ./rust_client random
//
// It raises by the pot with an ace or a pair in its hole cards, folds to bets of half the pot and more, and calls
// otherwise. docs/protocol.md explains the conversation and the sizes, docs/game-files.md the file of ARENA_GAME.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// What the file of a game says about its betting. Values are by position or by round.
struct Game {
    is_limit: bool,
    stacks: Vec<i64>,
    blinds: Vec<i64>,
    raise_sizes: Vec<i64>,
    first: Vec<i64>, // counted from 1
    max_raises: Vec<i64>,
}

/// State after the actions of a hand.
struct Betting {
    round: usize,
    raises: i64, // in this round
    turn: usize,
    is_over: bool,
    spent: Vec<i64>, // chips of each position in this hand
    high: i64,       // highest total of the hand
    least: i64,      // smallest total of a raise
}

impl Game {
    fn read(path: &str) -> Result<Game, Box<dyn Error>> {
        let mut players = Vec::new();
        let mut game = Game {
            is_limit: true,
            stacks: vec![2147483647; 2],
            blinds: Vec::new(),
            raise_sizes: vec![0; 4],
            first: vec![1; 4],
            max_raises: vec![255; 4],
        };
        for line in fs::read_to_string(path)?.to_lowercase().replace('=', " ").lines() {
            let mut words = line.split_whitespace();
            let key = words.next().unwrap_or("");
            let values: Vec<i64> = words.filter_map(|word| word.parse().ok()).collect();
            match key {
                "nolimit" => game.is_limit = false,
                "numplayers" => players = values,
                "stack" => game.stacks = values,
                "blind" => game.blinds = values,
                "raisesize" => game.raise_sizes = values,
                "firstplayer" => game.first = values,
                "maxraises" => game.max_raises = values,
                _ => {}
            }
        }
        if players != [2] || game.blinds.len() != 2 {
            return Err(format!("{path} is not a game for two players").into());
        }
        Ok(game)
    }

    /// Play the betting of a state, such as "r300c/cr750".
    fn replay(&self, text: &str) -> Betting {
        let big_blind = self.blinds[0].max(self.blinds[1]);
        let mut now = Betting {
            round: 0,
            raises: 0,
            turn: self.first[0] as usize - 1,
            is_over: false,
            spent: self.blinds.clone(),
            high: big_blind,
            least: 2 * big_blind,
        };
        let mut rest = text;
        while let Some(action) = rest.chars().next() {
            rest = &rest[1..];
            let stack = self.stacks[now.turn];
            match action {
                '/' => {
                    now.round += 1;
                    now.raises = 0;
                    now.turn = self.first[now.round] as usize - 1;
                    now.least = now.high + big_blind;
                    continue;
                }
                'f' => now.is_over = true,
                'c' => now.spent[now.turn] = now.high.min(stack),
                'r' => {
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    // A limit game writes no size.
                    let fixed = (now.high + self.raise_sizes[now.round]).min(stack);
                    let total = rest[..end].parse().unwrap_or(fixed);
                    rest = &rest[end..];
                    now.least = now.least.max(2 * total - now.high);
                    now.spent[now.turn] = total;
                    now.high = total;
                    now.raises += 1;
                }
                _ => {}
            }
            now.turn = 1 - now.turn;
        }
        now
    }

    /// The strategy: an action such as "c" or "r900".
    fn choose(&self, now: &Betting, cards: &str) -> String {
        let me = now.turn;
        let stack = self.stacks[me];
        let price = now.high.min(stack) - now.spent[me];
        let pot = now.spent[0] + now.spent[1];
        let is_pair = cards.len() == 4 && cards[0..1] == cards[2..3];
        let is_strong = is_pair || cards.contains('A');
        let can_raise = now.raises < self.max_raises[now.round]
            && now.spent[1 - me] < self.stacks[1 - me]
            && (self.is_limit || now.high < stack);

        if is_strong && can_raise && now.raises < 2 {
            if self.is_limit {
                return "r".to_string();
            }
            // After a call the pot is twice the highest total, so a raise by the pot makes three times that total.
            return format!("r{}", now.least.max(3 * now.high).min(stack));
        }
        if !is_strong && now.high > now.spent[me] && 2 * price >= pot {
            return "f".to_string();
        }
        "c".to_string()
    }

    /// The reply to a line of the dealer, if one is due.
    fn reply_to(&self, line: &str) -> Option<String> {
        let fields: Vec<&str> = line.split(':').collect();
        if fields.len() != 5 || fields[0] != "MATCHSTATE" {
            return None;
        }
        let position: usize = fields[1].parse().ok()?;
        let holes: Vec<&str> = fields[4].split('/').next()?.split('|').collect();
        // The cards of the other player are shown at the end only.
        if position > 1 || holes.len() != 2 || !holes[1 - position].is_empty() {
            return None;
        }
        let now = self.replay(fields[3]);
        if now.is_over || now.turn != position {
            return None;
        }
        Some(format!("{line}:{}\r\n", self.choose(&now, holes[position])))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    if arguments.len() < 3 {
        return Err("usage: ARENA_GAME=FILE rust_client HOST PORT".into());
    }
    let game = Game::read(&env::var("ARENA_GAME")?)?;
    let (host, port) = (&arguments[arguments.len() - 2], &arguments[arguments.len() - 1]);
    let mut dealer = TcpStream::connect((host.as_str(), port.parse::<u16>()?))?;
    dealer.set_nodelay(true)?;
    dealer.write_all(b"VERSION:2.0.0\r\n")?;
    for line in BufReader::new(dealer.try_clone()?).lines() {
        if let Some(reply) = game.reply_to(line?.trim_end()) {
            dealer.write_all(reply.as_bytes())?;
        }
    }
    Ok(())
}
