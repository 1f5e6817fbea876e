/* A complete bot in C99 for two-player games of any kind, no-limit above all.
 *
 *     cc -std=c99 -o nolimit_bot examples/nolimit_bot.c
 *     arena play nolimit ./nolimit_bot random
 *
 * It raises by the pot with an ace or a pair in its hole cards, folds to bets of half the pot and more, and calls
 * otherwise. `read_game` reads the file that ARENA_GAME names (docs/game-files.md), `replay` plays the betting of a
 * state by the rules of no-limit sizes (docs/protocol.md), and `choose` is the strategy. For Linux and macOS;
 * client.c shows the few lines that Windows needs.
 */
#define _POSIX_C_SOURCE 200112L
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { MAX_LINE = 4096 };

struct game {
    int is_limit, players;
    long stack[2], blind[2], raise_size[4];
    long first_player[4]; /* counted from 1 */
    long max_raises[4];
};

struct betting {
    int round, raises, turn, is_over; /* raises: of this round */
    long spent[2];                    /* chips of each position in this hand */
    long high, least;                 /* highest total of the hand, smallest total of a raise */
};

/* Read up to `count` numbers of a line that strtok is cutting into words. */
static void read_values(long *values, int count)
{
    const char *word;

    for (int i = 0; i < count && (word = strtok(NULL, " \t=\r\n")) != NULL; i++)
        values[i] = strtol(word, NULL, 10);
}

static int read_game(const char *path, struct game *game)
{
    char line[MAX_LINE];
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    long players = 0;

    if (file == NULL)
        return 0;
    memset(game, 0, sizeof *game);
    game->is_limit = 1;
    game->stack[0] = game->stack[1] = 2147483647;
    for (int round = 0; round < 4; round++) {
        game->first_player[round] = 1;
        game->max_raises[round] = 255;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        const char *key;

        for (char *c = line; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        key = strtok(line, " \t=\r\n");
        if (key == NULL)
            continue;
        if (strcmp(key, "nolimit") == 0)
            game->is_limit = 0;
        else if (strcmp(key, "numplayers") == 0)
            read_values(&players, 1);
        else if (strcmp(key, "stack") == 0)
            read_values(game->stack, 2);
        else if (strcmp(key, "blind") == 0)
            read_values(game->blind, 2);
        else if (strcmp(key, "raisesize") == 0)
            read_values(game->raise_size, 4);
        else if (strcmp(key, "firstplayer") == 0)
            read_values(game->first_player, 4);
        else if (strcmp(key, "maxraises") == 0)
            read_values(game->max_raises, 4);
    }
    fclose(file);
    game->players = (int)players;
    return 1;
}

static long smaller(long a, long b) { return a < b ? a : b; }
static long larger(long a, long b) { return a > b ? a : b; }

/* Play the betting of a state, such as "r300c/cr750", and return whose turn it is. */
static struct betting replay(const struct game *game, const char *text)
{
    struct betting now = {0};
    long big_blind = larger(game->blind[0], game->blind[1]);

    now.turn = (int)game->first_player[0] - 1;
    now.spent[0] = game->blind[0];
    now.spent[1] = game->blind[1];
    now.high = big_blind;
    now.least = 2 * big_blind;
    while (*text != '\0') {
        char action = *text++;
        long stack = game->stack[now.turn];

        if (action == '/') {
            now.round++;
            now.raises = 0;
            now.turn = (int)game->first_player[now.round & 3] - 1;
            now.least = now.high + big_blind;
            continue;
        }
        if (action == 'f')
            now.is_over = 1;
        if (action == 'c')
            now.spent[now.turn] = smaller(now.high, stack);
        if (action == 'r') {
            long total = smaller(now.high + game->raise_size[now.round & 3], stack);

            if (isdigit((unsigned char)*text))
                total = strtol(text, (char **)&text, 10);
            now.least = larger(now.least, 2 * total - now.high);
            now.spent[now.turn] = now.high = total;
            now.raises++;
        }
        now.turn = 1 - now.turn;
    }
    return now;
}

/* The strategy. Write the action as text, such as "c" or "r900". */
static void choose(const struct game *game, const struct betting *now, const char *cards, char action[32])
{
    int me = now->turn;
    long stack = game->stack[me];
    long price = smaller(now->high, stack) - now->spent[me];
    long pot = now->spent[0] + now->spent[1];
    /* "AhKs": the ranks are at 0 and 2. A game with one hole card has no pairs. */
    int has_two = isalnum((unsigned char)cards[1]) && isalnum((unsigned char)cards[2]);
    int is_strong = cards[0] == 'A' || (has_two && (cards[2] == 'A' || cards[0] == cards[2]));
    int can_raise = now->raises < game->max_raises[now->round & 3] && now->spent[1 - me] < game->stack[1 - me] &&
                    (game->is_limit || now->high < stack);

    strcpy(action, "c");
    if (is_strong && can_raise && now->raises < 2) {
        /* After a call the pot is twice the highest total, so a raise by the pot makes three times that total. */
        long total = smaller(larger(3 * now->high, now->least), stack);

        if (game->is_limit)
            strcpy(action, "r");
        else
            sprintf(action, "r%ld", total);
    } else if (!is_strong && now->high > now->spent[me] && 2 * price >= pot) {
        strcpy(action, "f");
    }
}

/* Write the reply to a state; 0 if none is due. */
static int reply_to(const struct game *game, const char *line, char reply[MAX_LINE + 40])
{
    char betting[MAX_LINE] = "", cards[MAX_LINE] = "", action[32];
    const char *bar;
    struct betting now;
    int position, hand;

    /* At the start of a hand the betting is empty, which %[ does not match. */
    if (sscanf(line, "MATCHSTATE:%d:%d:%4095[^:]:%4095s", &position, &hand, betting, cards) != 4) {
        betting[0] = '\0';
        if (sscanf(line, "MATCHSTATE:%d:%d::%4095s", &position, &hand, cards) != 3)
            return 0;
    }
    bar = strchr(cards, '|');
    if (bar == NULL || position < 0 || position > 1)
        return 0;
    /* The cards of the other player are shown at the end only. */
    if (position == 0 ? (bar[1] != '\0' && bar[1] != '/') : bar != cards)
        return 0;
    now = replay(game, betting);
    if (now.is_over || now.turn != position)
        return 0;
    choose(game, &now, position == 0 ? cards : bar + 1, action);
    sprintf(reply, "%s:%s\r\n", line, action);
    return 1;
}

static int connect_to(const char *host, const char *port)
{
    struct addrinfo hints = {0}, *addresses;
    int connection = -1, yes = 1;

    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &addresses) != 0)
        return -1;
    for (struct addrinfo *address = addresses; address != NULL && connection < 0; address = address->ai_next) {
        connection = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
        if (connection >= 0 && connect(connection, address->ai_addr, address->ai_addrlen) != 0) {
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(addresses);
    if (connection >= 0)
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return connection;
}

int main(int argc, char **argv)
{
    static char line[MAX_LINE], reply[MAX_LINE + 40];
    struct game game;
    FILE *input, *output;
    int connection;

    if (argc < 3) {
        fprintf(stderr, "usage: ARENA_GAME=FILE %s HOST PORT\n", argv[0]);
        return 2;
    }
    if (!read_game(getenv("ARENA_GAME"), &game) || game.players != 2) {
        fprintf(stderr, "ARENA_GAME has to name the file of a game for two players\n");
        return 2;
    }
    connection = connect_to(argv[argc - 2], argv[argc - 1]);
    if (connection < 0) {
        fprintf(stderr, "no dealer at %s port %s\n", argv[argc - 2], argv[argc - 1]);
        return 1;
    }
    /* Streams collect bytes to lines; one for each direction, because a socket cannot seek. */
    input = fdopen(connection, "r");
    output = fdopen(dup(connection), "w");
    if (input == NULL || output == NULL)
        return 1;
    fputs("VERSION:2.0.0\r\n", output);
    fflush(output);
    while (fgets(line, sizeof line, input) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (reply_to(&game, line, reply)) {
            fputs(reply, output);
            if (fflush(output) != 0)
                break;
        }
    }
    return 0;
}
