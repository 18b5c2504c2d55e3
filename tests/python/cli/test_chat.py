"""`orfebre chat` on a pseudo-terminal, as a person uses it, and with piped input."""

import os
import signal

from cli_tools import run

GREEDY = ["chat", "--temperature", "0", "--no-think"]
STATISTICS = r"\[\d+ tokens, "


def test_question_history_and_exit(terminal):
    chat = terminal(*GREEDY)
    chat.expect(r"/help")
    chat.expect(r"> ")
    chat.type("What is 27 + 15?\r")
    chat.expect(r"42")
    chat.expect(STATISTICS)
    chat.expect(r"> ")
    chat.type("\x1b[A")  # the arrow up brings the last line back
    chat.expect(r"What is 27 \+ 15\?")
    chat.type("\x15/exit\r")
    assert chat.wait() == 0


def test_ctrl_c_stops_the_reply_and_not_the_program(terminal):
    # The slow backend and a long prompt: the reply is still being prepared when the key comes.
    chat = terminal(*GREEDY, "--backend", "reference", "--system", "word " * 3000)
    chat.expect(r"> ")
    chat.type("hello\r")
    chat.expect(r"hello\r\n")
    chat.expect_signal_keys()
    chat.type("\x03")
    chat.expect(r"\[stopped\]")
    chat.expect(r"> ")
    chat.type("/system Be brief.\r")
    chat.expect(r"> ")
    chat.type("What is 3 + 4?\r")
    chat.expect(STATISTICS)
    chat.type("/exit\r")
    assert chat.wait() == 0


def test_ctrl_c_at_the_prompt_throws_the_line_away(terminal):
    chat = terminal(*GREEDY)
    chat.expect(r"> ")
    chat.type("half a que")
    chat.expect(r"half a que")
    chat.type("\x03")
    chat.expect(r"> ")
    chat.type("What is 27 + 15?\r")
    chat.expect(r"42")
    chat.expect(r"> ")
    chat.type("\x04")
    assert chat.wait() == 0


def test_commands(terminal):
    chat = terminal(*GREEDY)
    chat.expect(r"> ")
    chat.type("/help\r")
    chat.expect(r"/system TEXT")
    chat.type("/nonsense\r")
    chat.expect(r"/system TEXT")
    chat.type("/think on\r")
    chat.expect(r"> ")
    chat.type("What is 27 + 15?\r")
    chat.expect(r"42")
    chat.expect(STATISTICS)
    chat.type("/clear\r/exit\r")
    assert chat.wait() == 0


def test_piped_input(binary):
    result = run(binary, *GREEDY, input="What is 27 + 15?\n\n/exit\n")
    assert result.returncode == 0, result.stderr
    assert "42" in result.stdout and "\x1b" not in result.stdout


def test_a_message_over_the_context_does_not_end_the_program(binary):
    result = run(binary, *GREEDY, "--context", "1024", input="word " * 3000 + "\nWhat is 27 + 15?\n")
    assert result.returncode == 0, result.stderr
    assert "/clear" in result.stdout and "42" in result.stdout


def test_sigterm_ends_the_reply_and_the_program(terminal):
    chat = terminal(*GREEDY)
    chat.expect(r"> ")
    chat.type("Count from 1 to 200.\r")
    chat.expect(r"3, 4")
    os.kill(chat.pid, signal.SIGTERM)
    assert chat.wait() == 0
