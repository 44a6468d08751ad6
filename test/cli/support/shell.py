"""A shell under a terminal: types a line and Tab keys, and prints what the terminal shows until it says what is waited for."""
import os
import pty
import re
import select
import sys
import time

wanted, typed, *shell = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(shell[0], shell)
shown = ""


def read(until, seconds=120):
    """Reads until `until` is shown; False where it never is."""
    global shown
    end = time.time() + seconds
    while time.time() < end:
        if re.search(until, shown):
            return True
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                data = os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                return False
            # fish asks what the terminal is.
            if "\x1b[c" in data or "\x1b[0c" in data:
                os.write(terminal, b"\x1b[?1;2c")
            shown += data
    return False


read("READY")
shown = ""
os.write(terminal, typed.encode().decode("unicode_escape").encode())
found = read(wanted)
sys.stdout.write(shown)
os.close(terminal)
sys.exit(0 if found else 1)
