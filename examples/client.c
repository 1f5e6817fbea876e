/* A complete ACPC player in C99, for two-player limit games.
 *
 *     cc -std=c99 -o client client.c && ./client HOST PORT
 *     gcc -std=c99 -o client client.c -lws2_32               (Windows; with Visual C: cl client.c ws2_32.lib)
 *
 * It raises once a round with an ace or a pair in its hole cards, and calls otherwise. Everything it knows it reads off
 * the dealer's line, MATCHSTATE:<position>:<hand>:<betting>:<cards>; docs/connect-a-bot.md explains the conversation.
 */
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#define _POSIX_C_SOURCE 200112L
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
typedef int SOCKET;
#define INVALID_SOCKET (-1)
#define closesocket close
#endif

#include <stdio.h>
#include <string.h>

enum { MAX_LINE = 4096 };

/* The position that acts first in each round: hold'em with reversed blinds. In Kuhn and Leduc poker it is always 0. */
static const int first_to_act[] = {1, 0, 0, 0};

/* At most this many raises a round; the game allows 3 before the flop, 4 later. */
static const int max_raises = 3;

static SOCKET connect_to(const char *host, const char *port)
{
    struct addrinfo hints, *found, *at;
    SOCKET connection = INVALID_SOCKET;

    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return INVALID_SOCKET;
    for (at = found; at != NULL && connection == INVALID_SOCKET; at = at->ai_next) {
        connection = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (connection != INVALID_SOCKET && connect(connection, at->ai_addr, at->ai_addrlen) != 0) {
            closesocket(connection);
            connection = INVALID_SOCKET;
        }
    }
    freeaddrinfo(found);
    return connection;
}

/* Send all of a text; 0 when the dealer is gone. */
static int send_text(SOCKET connection, const char *text)
{
    int left = (int)strlen(text);

    while (left > 0) {
        int sent = (int)send(connection, text, left, 0);
        if (sent <= 0)
            return 0;
        text += sent;
        left -= sent;
    }
    return 1;
}

/* Read the next line without its end; 0 when the dealer has closed. TCP delivers bytes, not lines: what follows the
 * line stays in the buffer. */
static int read_line(SOCKET connection, char line[MAX_LINE])
{
    static char bytes[MAX_LINE];
    static int count = 0, next = 0;
    int length = 0;

    for (;;) {
        if (next == count) {
            count = (int)recv(connection, bytes, sizeof bytes, 0);
            next = 0;
            if (count <= 0) {
                count = 0;
                return 0;
            }
        }
        if (bytes[next] == '\n')
            break;
        if (length < MAX_LINE - 1)
            line[length++] = bytes[next];
        next++;
    }
    next++;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return 1;
}

/* The reply to a state, 'c' or 'r'; 0 when none is due; -1 when the line is no state. */
static int reply_to(const char *line)
{
    char betting[MAX_LINE], cards[MAX_LINE];
    const char *bar, *mine, *round_actions, *c;
    int position, hand, round = 0, actions = 0, raises = 0, rank_matches, has_ace;

    betting[0] = '\0';
    if (sscanf(line, "MATCHSTATE:%d:%d:%4095[^:]:%4095s", &position, &hand, betting, cards) != 4) {
        /* Nobody has acted yet: the betting is empty, and %[ does not match an empty text. */
        betting[0] = '\0';
        if (sscanf(line, "MATCHSTATE:%d:%d::%4095s", &position, &hand, cards) != 3)
            return -1;
    }
    bar = strchr(cards, '|');
    if (bar == NULL || position < 0 || position > 1)
        return -1;

    /* The hand is over after a fold, and when the other player's cards are shown. */
    if (strchr(betting, 'f') != NULL)
        return 0;
    if (position == 0 ? (bar[1] != '\0' && bar[1] != '/') : bar != cards)
        return 0;

    /* The present round is what stands behind the last slash; two players act in turns. */
    round_actions = betting;
    for (c = betting; *c != '\0'; c++)
        if (*c == '/') {
            round++;
            round_actions = c + 1;
        }
    for (c = round_actions; *c != '\0'; c++) {
        actions += *c == 'c' || *c == 'r';
        raises += *c == 'r';
    }
    if (round > 3 || (first_to_act[round] + actions) % 2 != position)
        return 0;

    /* Each card is a rank and a suit: in "AhKs" the ranks are at 0 and 2. */
    mine = position == 0 ? cards : bar + 1;
    rank_matches = mine[0] == mine[2];
    has_ace = mine[0] == 'A' || mine[2] == 'A';
    return (rank_matches || has_ace) && actions < 2 && raises < max_raises ? 'r' : 'c';
}

int main(int argc, char **argv)
{
    char line[MAX_LINE], reply[MAX_LINE + 8];
    SOCKET connection;

    if (argc < 3) {
        fprintf(stderr, "usage: %s HOST PORT\n", argv[0]);
        return 2;
    }
#ifdef _WIN32
    {
        WSADATA about;
        if (WSAStartup(MAKEWORD(2, 2), &about) != 0)
            return 1;
    }
#else
    signal(SIGPIPE, SIG_IGN); /* a dealer that has gone is noticed by what send() returns */
#endif
    connection = connect_to(argv[argc - 2], argv[argc - 1]);
    if (connection == INVALID_SOCKET) {
        fprintf(stderr, "no dealer at %s port %s\n", argv[argc - 2], argv[argc - 1]);
        return 1;
    }
    if (!send_text(connection, "VERSION:2.0.0\r\n"))
        return 1;

    while (read_line(connection, line)) {
        int action;

        if (line[0] == '#' || line[0] == ';')
            continue;
        action = reply_to(line);
        if (action < 0) {
            fprintf(stderr, "not a state of a two-player game: %s\n", line);
            return 1;
        }
        if (action > 0) {
            /* The state exactly as it came, a colon, the action, and the end of the line. */
            snprintf(reply, sizeof reply, "%s:%c\r\n", line, action);
            if (!send_text(connection, reply))
                break;
        }
    }
    closesocket(connection);
    return 0;
}
