// A complete ACPC player in Java 11 or newer, for limit and no-limit games of two players.
//
//     arena play nolimit "java examples/Client.java" random
//
// It raises by the pot with an ace or a pair in its hole cards, folds to bets of half the pot and more, and calls
// otherwise. docs/protocol.md explains the conversation and the sizes, docs/game-files.md the file of ARENA_GAME.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

public class Client {
    /** What the file of a game says about its betting. Values are by position or by round. */
    static final class Game {
        final boolean isLimit;
        final int[] stacks, blinds, raiseSizes, first, maxRaises; // first counts from 1

        Game(String path) throws IOException {
            Map<String, int[]> lines = new HashMap<>();
            for (String line : Files.readAllLines(Path.of(path), StandardCharsets.ISO_8859_1)) {
                String[] words = line.toLowerCase().trim().split("[\\s=]+");
                lines.put(words[0], Arrays.stream(words).skip(1).filter(word -> word.matches("\\d+"))
                        .mapToInt(Integer::parseInt).toArray());
            }
            isLimit = !lines.containsKey("nolimit");
            stacks = lines.getOrDefault("stack", new int[] {Integer.MAX_VALUE, Integer.MAX_VALUE});
            blinds = lines.getOrDefault("blind", new int[0]);
            raiseSizes = lines.getOrDefault("raisesize", new int[4]);
            first = lines.getOrDefault("firstplayer", new int[] {1, 1, 1, 1});
            maxRaises = lines.getOrDefault("maxraises", new int[] {255, 255, 255, 255});
            int[] players = lines.getOrDefault("numplayers", new int[0]);
            if (players.length != 1 || players[0] != 2 || blinds.length != 2) {
                throw new IOException(path + " is not a game for two players");
            }
        }
    }

    /** State after the actions of a hand, such as "r300c/cr750". */
    static final class Betting {
        int round, raises, turn;
        boolean isOver;
        final long[] spent = new long[2]; // chips of each position in this hand
        long high, least; // highest total of the hand, smallest total of a raise

        Betting(Game game, String text) {
            int bigBlind = Math.max(game.blinds[0], game.blinds[1]);
            turn = game.first[0] - 1;
            spent[0] = game.blinds[0];
            spent[1] = game.blinds[1];
            high = bigBlind;
            least = 2L * bigBlind;
            for (int i = 0; i < text.length(); i++) {
                int stack = game.stacks[turn];
                switch (text.charAt(i)) {
                    case '/':
                        round++;
                        raises = 0;
                        turn = game.first[round] - 1;
                        least = high + bigBlind;
                        continue;
                    case 'f':
                        isOver = true;
                        break;
                    case 'c':
                        spent[turn] = Math.min(high, stack);
                        break;
                    case 'r':
                        int end = i + 1;
                        while (end < text.length() && Character.isDigit(text.charAt(end))) {
                            end++;
                        }
                        long total = Math.min(high + game.raiseSizes[round], stack);
                        if (end > i + 1) { // a limit game writes no size
                            total = Long.parseLong(text.substring(i + 1, end));
                        }
                        i = end - 1;
                        least = Math.max(least, 2 * total - high);
                        spent[turn] = total;
                        high = total;
                        raises++;
                        break;
                    default:
                        break;
                }
                turn = 1 - turn;
            }
        }
    }

    /** The strategy: an action such as "c" or "r900". */
    static String choose(Game game, Betting now, String cards) {
        int me = now.turn;
        int stack = game.stacks[me];
        long price = Math.min(now.high, stack) - now.spent[me];
        long pot = now.spent[0] + now.spent[1];
        boolean isPair = cards.length() == 4 && cards.charAt(0) == cards.charAt(2);
        boolean isStrong = isPair || cards.contains("A");
        boolean canRaise = now.raises < game.maxRaises[now.round]
                && now.spent[1 - me] < game.stacks[1 - me]
                && (game.isLimit || now.high < stack);

        if (isStrong && canRaise && now.raises < 2) {
            // After a call the pot is twice the highest total, so a raise by the pot makes three times that total.
            return game.isLimit ? "r" : "r" + Math.min(Math.max(3 * now.high, now.least), stack);
        }
        if (!isStrong && now.high > now.spent[me] && 2 * price >= pot) {
            return "f";
        }
        return "c";
    }

    /** The reply to a line of the dealer, or null if none is due. */
    static String replyTo(Game game, String line) {
        String[] fields = line.split(":", -1);
        if (fields.length != 5 || !fields[0].equals("MATCHSTATE")) {
            return null;
        }
        int position = Integer.parseInt(fields[1]);
        String[] holes = fields[4].split("/", 2)[0].split("\\|", -1);
        if (position > 1 || holes.length != 2 || !holes[1 - position].isEmpty()) {
            return null; // the cards of the other player are shown at the end only
        }
        Betting now = new Betting(game, fields[3]);
        if (now.isOver || now.turn != position) {
            return null;
        }
        return line + ":" + choose(game, now, holes[position]) + "\r\n";
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            System.err.println("usage: ARENA_GAME=FILE java Client.java HOST PORT");
            System.exit(2);
        }
        Game game = new Game(System.getenv("ARENA_GAME"));
        String host = arguments[arguments.length - 2];
        int port = Integer.parseInt(arguments[arguments.length - 1]);
        try (Socket dealer = new Socket(host, port)) {
            dealer.setTcpNoDelay(true);
            OutputStream output = dealer.getOutputStream();
            output.write("VERSION:2.0.0\r\n".getBytes(StandardCharsets.US_ASCII));
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(dealer.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String reply = replyTo(game, line);
                if (reply != null) {
                    output.write(reply.getBytes(StandardCharsets.ISO_8859_1));
                }
            }
        }
    }
}
