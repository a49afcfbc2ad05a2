"""A peer as a child process that waits between rounds, stopped by a signal meanwhile, so that it takes no processor time."""
import json
import os
import select
import signal
import subprocess
import time


class Child:
    def __init__(self, command, timeout):
        self.command, self.timeout = command, timeout
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest, self.failure = b"", None

    def _fail(self, why):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.failure = f"{why}; {self.process.stderr.read().decode(errors='replace').strip()[-700:]}"
        return None

    def answer(self, timeout=None):
        """The next line of JSON; None after a failure."""
        end = time.monotonic() + (timeout or self.timeout)
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                if line.startswith(b"{"):
                    return json.loads(line)
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return self._fail(f"no answer in {timeout or self.timeout} s")
            more = self.process.stdout.read()
            if not more:
                return self._fail("it ended")
            self.rest += more

    def rest_now(self):
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, word):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(word.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._fail("it ended")
        return self.answer()

    def end(self):
        line = self.ask("end")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return line


def run_json(command, timeout):
    """(last line of JSON, None) or (None, why not)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, f"no answer in {timeout} s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return None, done.stderr.strip()[-700:] or f"exit {done.returncode}"
    return json.loads(lines[-1]), None
