"""``acpc-dealer`` as a program: exit codes, streams, files, resume and failures."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from dealer.reference.command import EXTENSIONS, USAGE, main
from dealer.run.affinity import usable_cores
from tests.dealer.helpers import (
    CONFORMANCE,
    DEALER,
    PATIENCE_S,
    DealerProcess,
    always,
    free_ports,
    game,
    make_setup,
    play_seats,
    program_env,
    random_policy,
    reference_log,
)
from tests.outside import SHELL

KUHN = game("kuhn")
PLAYERS = [random_policy(1), random_policy(2)]
HEADER = "# name/game/hands/seed m kuhn.game {hands} 1\n#--t_response 600000\n#--t_hand 600000\n#--t_per_hand 7000\n"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems have fewer loopback addresses")
unix_only = pytest.mark.skipif(os.name == "nt", reason="signals and shells of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kuhn.game").write_bytes((CONFORMANCE / "games" / "kuhn.limit.2p.game").read_bytes())
    return tmp_path


def _arguments(hands: int, *options: str) -> list[str]:
    return ["m", "kuhn.game", str(hands), "1", "A", "B", *options]


def _play(folder: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a match; return exit code, standard output after the ports, and standard error."""
    with DealerProcess(folder, arguments) as dealer:
        play_seats(dealer.ports(), KUHN, PLAYERS)
        code, stdout = dealer.end()
        return code, stdout, dealer.stderr


def _expected(hands: int) -> list[str]:
    return reference_log(make_setup(KUHN, hands), PLAYERS)


# ---- command lines that cannot be run


@pytest.mark.parametrize(
    ("arguments", "stdout", "stderr"),
    [
        ([], USAGE, ""),
        (["m", "kuhn.game", "10"], USAGE, ""),
        (["m", "kuhn.game", "10", "1"], USAGE, ""),
        (["m", "kuhn.game", "10", "1", "A"], USAGE, ""),
        (["m", "no.game", "10", "1", "A", "B"], "", "ERROR: could not open game definition no.game\n"),
        (
            ["m", "bad.game", "10", "1", "A", "B"],
            "",
            "invalid number of rounds: 9\nERROR: could not read game bad.game\n",
        ),
        (["m", "kuhn.game", "0", "1", "A", "B"], "", "ERROR: invalid number of hands 0\n"),
        (["m", "kuhn.game", "0", "x", "A", "B"], "", "ERROR: invalid number of hands 0\n"),
        (["m", "kuhn.game", "10", "x", "A", "B"], "", "ERROR: invalid random number seed x\n"),
        (["no/m", "kuhn.game", "10", "1", "A", "B"], "", "ERROR: could not open log file no/m.log\n"),
        (["no/m", "kuhn.game", "10", "1", "A", "B", "-lT"], "", "ERROR: could not open transaction file no/m.tlog\n"),
        (["-z"], "", "bin/dealer: invalid option -- 'z'\nERROR: unknown option ?\n"),
    ],
)
def test_invalid_command_lines_print_the_sentences_of_the_reference(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: list[str],
    stdout: str,
    stderr: str,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["bin/dealer", "-z"])
    text = (folder / "kuhn.game").read_text()
    (folder / "bad.game").write_text(re.sub("numRounds.*", "numRounds = 9", text))
    assert main(arguments) == 1
    captured = capfdbinary.readouterr()
    assert (captured.out.decode(), captured.err.decode()) == (stdout, stderr)


def test_help_prints_the_usage(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["--help"]) == 0
    assert capfdbinary.readouterr().out.decode() == USAGE + EXTENSIONS


def test_port_in_use_is_refused(folder: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        DealerProcess(folder, _arguments(1, "-p", f"0,{server.getsockname()[1]}")) as dealer,
    ):
        assert dealer.end() == (1, "")
        assert dealer.stderr == "ERROR: could not create listen socket for player 2\n"


def test_missing_players_end_the_match_after_the_start_time(folder: Path) -> None:
    with DealerProcess(folder, _arguments(1, "--start_timeout", "50")) as dealer:
        assert len(dealer.ports()) == 2
        assert dealer.end() == (1, "")
        assert dealer.stderr.endswith("ERROR: timed out waiting for seat 1 to connect\n")


@pytest.mark.parametrize(
    ("option", "variable", "listening"),
    [
        pytest.param(
            (), None, "every address of this machine, for this machine alone: a player with", marks=linux_only
        ),
        (("--host", "127.0.0.1"), None, "127.0.0.1: a player with another address cannot connect; --host 0.0.0.0"),
        ((), "127.0.0.1", "127.0.0.1: a player"),
        (("--host", "0.0.0.0"), "127.0.0.1", "every address: a wrong address or port, or a firewall,"),
    ],
)
def test_addresses_for_players_are_printed(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    option: tuple[str, ...],
    variable: str | None,
    listening: str,
) -> None:
    # Scripts of the reference give players the address of the host's name.
    monkeypatch.chdir(folder)
    monkeypatch.setattr("dealer.reference.command._AWAITED_S", 0.0)
    monkeypatch.delenv("ACPC_DEALER_HOST", raising=False)
    if variable is not None:
        monkeypatch.setenv("ACPC_DEALER_HOST", variable)
    assert main(_arguments(1, "--start_timeout", "200", *option)) == 1
    captured = capfdbinary.readouterr()
    one, two = captured.out.decode().split()
    lines = captured.err.decode().splitlines()
    (sentence,) = [line for line in lines if "no player" in line]
    start = f"# no player has connected for seat 1 at port {one} and seat 2 at port {two} in 0 s; listening on "
    assert sentence.startswith(start + listening)
    assert lines[-1] == "ERROR: timed out waiting for seat 1 to connect"
    assert not re.search("WARNING|ERROR", sentence)


@linux_only
def test_players_are_expected_at_every_loopback_address(folder: Path) -> None:
    with DealerProcess(folder, _arguments(1)) as dealer:
        ports = dealer.ports()
        peers = [
            socket.create_connection((address, port), timeout=PATIENCE_S)
            for address, port in zip(("127.0.1.1", "127.1.2.3"), ports, strict=True)
        ]
        for peer in peers:
            peer.sendall(b"VERSION:2.0.0\r\n")
        assert all(peer.recv(4096).startswith(b"MATCHSTATE:") for peer in peers)
        for peer in peers:
            peer.close()
        assert dealer.end()[0] == 1


# ---- what a match leaves


def test_match_writes_its_log_and_prints_its_score(folder: Path) -> None:
    code, stdout, stderr = _play(folder, _arguments(20))
    expected = _expected(20)
    assert code == 0
    assert stdout == expected[-1]
    assert (folder / "m.log").read_text() == HEADER.format(hands=20) + "".join(expected)
    assert not (folder / "m.tlog").exists()
    lines = stderr.splitlines(keepends=True)
    assert "".join(lines[:4]) == HEADER.format(hands=20)
    assert re.fullmatch(r"STARTED at \d+\.\d{6}\n", lines[4])
    assert re.fullmatch(r"TO 1 at \d+\.\d{6} MATCHSTATE:0:0::\w\w\|\n", lines[5].replace("\r", ""))
    assert re.fullmatch(r"FINISHED at \d+\.\d{6}\n", lines[-2])
    assert lines[-1] == expected[-1]


def test_options_change_files_and_header(folder: Path) -> None:
    options = ("-q", "-T", "-f", "--t_response", "1000", "--t_hand", "20000", "--t_per_hand", "300")
    code, stdout, stderr = _play(folder, _arguments(10, *options))
    log = (folder / "m.log").read_text().splitlines(keepends=True)
    assert code == 0
    assert stderr == "".join(log[:4]) + stdout
    assert log[1:4] == ["#--t_response 1000\n", "#--t_hand 20000\n", "#--t_per_hand 300\n"]
    states = [line for line in log if line.startswith("STATE")]
    assert all(state.endswith(":A|B\n") for state in states)
    transactions = (folder / "m.tlog").read_text().splitlines()
    assert all(re.fullmatch(r"[fcr] \d+ \d+\.\d{6} \d+\.\d{6}", line) for line in transactions)
    assert "".join(line[0] for line in transactions) == "".join(state.split(":")[2] for state in states)


def test_match_without_a_log_writes_no_file(folder: Path) -> None:
    code, stdout, _ = _play(folder, _arguments(5, "-l", "-q"))
    assert (code, stdout) == (0, _expected(5)[-1])
    assert sorted(path.name for path in folder.iterdir()) == ["kuhn.game", "stderr.txt"]


def test_files_are_appended_to_with_option_a_only(folder: Path) -> None:
    _play(folder, _arguments(3, "-q"))
    first = (folder / "m.log").read_text()
    _play(folder, _arguments(3, "-q"))
    assert (folder / "m.log").read_text() == first
    _play(folder, _arguments(3, "-q", "-a"))
    assert (folder / "m.log").read_text() == first + first


def test_given_ports_are_used_and_coalescing_changes_no_log(folder: Path) -> None:
    ports = free_ports(2)
    with DealerProcess(folder, _arguments(20, "-q", "--coalesce", "5", "-p", ",".join(map(str, ports)))) as dealer:
        assert dealer.ports() == ports
        play_seats(ports, KUHN, PLAYERS)
        assert dealer.end() == (0, _expected(20)[-1])
    assert (folder / "m.log").read_text() == HEADER.format(hands=20) + "".join(_expected(20))


def test_dealer_is_bound_to_a_core_on_request(folder: Path) -> None:
    cores = usable_cores()
    if not cores:
        pytest.skip("this system binds to no core")
    with DealerProcess(folder, _arguments(20, "-q", "--affinity", str(cores[-1]))) as dealer:
        ports = dealer.ports()
        assert psutil.Process(dealer.process.pid).cpu_affinity() == [cores[-1]]
        play_seats(ports, KUHN, PLAYERS)
        assert dealer.end() == (0, _expected(20)[-1])


def test_core_that_the_dealer_may_not_use_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert main(_arguments(20, "--affinity", "100000")) == 1
    refusals = ("ERROR: core 100000 is none of ", "ERROR: this system cannot bind a process to a core")
    assert capfd.readouterr().err.startswith(refusals)


def test_player_that_leaves_ends_the_match_without_a_score(folder: Path) -> None:
    with DealerProcess(folder, _arguments(1000, "-q")) as dealer:
        ports = dealer.ports()
        peers = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for port in ports]
        for peer in peers:
            peer.sendall(b"VERSION:2.0.0\r\n")
        peers[0].recv(100)
        peers[0].close()
        code, stdout = dealer.end()
        peers[1].close()
        assert (code, stdout) == (1, "")
        assert re.search(
            r"ERROR: could not get action from seat 1\n\d+\.\d seconds spent waiting; timeout 600\.0\n\Z", dealer.stderr
        )
    assert (folder / "m.log").read_text() == HEADER.format(hands=1000)


def test_bad_replies_are_warned_of_even_when_quiet(folder: Path) -> None:
    with DealerProcess(folder, _arguments(1, "-q")) as dealer:
        ports = dealer.ports()
        with (
            socket.create_connection(("127.0.0.1", ports[0]), timeout=PATIENCE_S) as first,
            socket.create_connection(("127.0.0.1", ports[1]), timeout=PATIENCE_S) as second,
        ):
            first.sendall(b"VERSION:2.0.0\r\n")
            second.sendall(b"VERSION:2.0.0\r\n")
            line = first.recv(100).rstrip()
            first.sendall(b"junk\r\n" + line + b":f\r\n")
            data = b""
            while data.count(b"\n") < 2:
                data += second.recv(100)
            second.sendall(data.splitlines()[-1] + b":c\r\n")
            assert dealer.end()[0] == 0
        assert "WARNING: bad state format in response\nWARNING: invalid action, changed to call\n" in dealer.stderr


# ---- accidents and resuming


def _whole_lines(path: Path) -> str:
    text = path.read_text()
    assert text.endswith("\n")
    return text


@unix_only
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_match_resumes_to_the_same_score(folder: Path, number: signal.Signals) -> None:
    """Score and hands equal those of an uninterrupted match after two interruptions."""
    hands = 60
    arguments = _arguments(hands, "-q", "-T", "-a")
    for questions in (37, 41):
        with DealerProcess(folder, arguments) as dealer:

            def strike(count: int, dealer: DealerProcess = dealer, at: int = questions) -> None:
                if count == at:
                    os.kill(dealer.process.pid, number)

            play_seats(dealer.ports(), KUHN, PLAYERS, at_question=strike)
            code, stdout = dealer.end()
            assert code == (-9 if number == signal.SIGKILL else 130)
            assert stdout == ""
            assert "Traceback" not in dealer.stderr
        _whole_lines(folder / "m.log")
        _whole_lines(folder / "m.tlog")
    code, stdout, stderr = _play(folder, arguments)
    assert code == 0
    expected = _expected(hands)
    assert stdout == expected[-1]
    lines = _whole_lines(folder / "m.log").splitlines(keepends=True)
    assert lines.count(HEADER.format(hands=hands).splitlines(keepends=True)[0]) == 3
    assert [line for line in lines if not line.startswith("#")] == expected
    assert stderr.count("ERROR") == 0


def test_resume_of_a_complete_match_plays_no_hand(folder: Path) -> None:
    arguments = _arguments(5, "-q", "-T", "-a")
    _play(folder, arguments)
    with DealerProcess(folder, arguments) as dealer:
        received = play_seats(dealer.ports(), KUHN, [always("c")] * 2)
        assert dealer.end() == (0, _expected(5)[-1])
    assert received == [b"", b""]


def test_foreign_transaction_log_is_refused(folder: Path) -> None:
    (folder / "m.tlog").write_text("c 3 1.0 1.0\n")
    with DealerProcess(folder, _arguments(5, "-q", "-T", "-a")) as dealer:
        play_seats(dealer.ports(), KUHN, PLAYERS)
        assert dealer.end() == (1, "")
        assert dealer.stderr.endswith("ERROR: handId mismatch in transaction log: c 3 1.0 1.0\n")


@unix_only
def test_interrupt_during_the_wait_ends_the_dealer(folder: Path) -> None:
    with DealerProcess(folder, _arguments(5)) as dealer:
        dealer.ports()
        dealer.process.send_signal(signal.SIGINT)
        assert dealer.end() == (130, "")
        assert dealer.stderr.endswith("ERROR: interrupted\n")


@needs_full
def test_full_disk_of_the_log_ends_the_match(folder: Path) -> None:
    (folder / "m.log").symlink_to("/dev/full")
    with DealerProcess(folder, _arguments(5, "-q")) as dealer:
        dealer.ports()
        assert dealer.end() == (1, "")
        assert dealer.stderr.endswith("ERROR: could not write m.log: No space left on device\n")


@needs_full
def test_full_disk_of_the_transaction_log_ends_the_match(folder: Path) -> None:
    (folder / "m.tlog").symlink_to("/dev/full")
    code, stdout, stderr = _play(folder, _arguments(5, "-q", "-T"))
    assert (code, stdout) == (1, "")
    assert stderr.endswith("ERROR: could not write m.tlog: No space left on device\n")
    assert (folder / "m.log").read_text() == HEADER.format(hands=5)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_read_only_folder_is_refused(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir(mode=0o555)
    with DealerProcess(folder, ["inner/m", *_arguments(5)[1:]]) as dealer:
        assert dealer.end() == (1, "")
        assert dealer.stderr == "ERROR: could not open log file inner/m.log\n"


def _call_to_the_end(port: int) -> None:
    """Connect once the port is open and call until the dealer closes the connection."""
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            break
        except ConnectionRefusedError:
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
    with connection, connection.makefile("rwb", buffering=0) as stream, contextlib.suppress(OSError):
        stream.write(b"VERSION:2.0.0\r\n")
        for line in stream:
            stream.write(line.rstrip() + b":c\r\n")


@unix_only
@pytest.mark.parametrize(
    "redirection",
    [
        pytest.param(">&- 2>/dev/full", marks=needs_full),
        pytest.param(">/dev/null 2>&-", marks=pytest.mark.slow),
    ],
)
def test_closed_or_full_streams_end_no_match(folder: Path, redirection: str) -> None:
    """The reference dealer continues, too: only the log is needed."""
    ports = free_ports(2)
    command = [*DEALER, *_arguments(5, "-p", ",".join(map(str, ports)))]
    dealer = subprocess.Popen([SHELL, "-c", f'exec "$@" {redirection}', "sh", *command], cwd=folder, env=program_env())
    players = [threading.Thread(target=_call_to_the_end, args=(port,)) for port in ports]
    try:
        for player in players:
            player.start()
        assert dealer.wait(PATIENCE_S) == 0
        assert (folder / "m.log").read_text().splitlines()[-1].startswith("SCORE:")
    finally:
        dealer.kill()
        dealer.wait()
        for player in players:
            player.join()


@unix_only
def test_standard_output_can_be_closed_after_the_ports(folder: Path) -> None:
    with DealerProcess(folder, _arguments(5, "-q")) as dealer:
        ports = dealer.ports()
        assert dealer.process.stdout is not None
        dealer.process.stdout.close()
        play_seats(ports, KUHN, PLAYERS)
        assert dealer.process.wait(PATIENCE_S) == 0
        assert "Traceback" not in dealer.stderr
        assert (folder / "m.log").read_text() == HEADER.format(hands=5) + "".join(_expected(5))


@pytest.mark.parametrize("options", [(), ("-q",)])
def test_warning_is_printed_at_once(folder: Path, options: tuple[str, ...]) -> None:
    with DealerProcess(folder, _arguments(1000, *options)) as dealer:
        peers = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for port in dealer.ports()]
        try:
            for peer in peers:
                peer.sendall(b"VERSION:2.0.0\r\n")
            peers[0].recv(100)
            peers[0].sendall(b"junk\r\n")
            until = time.monotonic() + 10
            while "WARNING: bad state format in response\n" not in dealer.stderr:
                assert dealer.process.poll() is None
                assert time.monotonic() < until, "the warning is kept back"
                time.sleep(0.01)
        finally:
            for peer in peers:
                peer.close()
