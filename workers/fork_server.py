"""Jobs in forked children of a process that has imported its libraries once. JSON lines on both sides.

first line   {"ready": true, ...}: what `serve` was told to say about itself
request      {"id": 1, "timeoutMs": 60000, ...}; the rest is the handler's
cancel       {"cancel": 1}
reply        {"id": 1, "ok": true, "log": "...", ...}: what the handler returned
             {"id": 1, "ok": false, "failure": F, "stage": S, "error": E, "log": "...", "signal": N}
             F: "error" (the handler raised), "disk" (no room), "crash" (the child died), "timeout", "cancelled"
             S: the stage that the handler had announced last; log: what the job printed

Replies go to a private copy of standard output: libraries print what they like on 1 and 2, and so does a job, whose
streams are a file of its own. When standard input ends, so do all jobs and the server.
"""
import ctypes
import errno
import json
import os
import select
import signal
import sys
import tempfile
import time

LOG_LIMIT = 16_000
PR_SET_PDEATHSIG = 1

# Before anything is imported that may print.
_replies = os.dup(1)
os.set_inheritable(_replies, False)
os.dup2(2, 1)


def send(message, to=_replies):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[os.write(to, data):]


class Job:
    """One forked child: reads nothing, announces stages, then its result, on a pipe."""

    def __init__(self, request, handle):
        self.id = request["id"]
        self.seconds = request["timeoutMs"] / 1000
        self.started = time.monotonic()
        self.received = b""
        self.stage = "start"
        self.ended = None
        self.log = tempfile.TemporaryFile()
        self.pipe, inner = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self.work(request, handle, inner, parent)
        os.close(inner)

    def work(self, request, handle, pipe, parent):
        """The child's life; does not return."""
        # A server that is killed takes its jobs along.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        os.close(0)
        os.dup2(self.log.fileno(), 1)
        os.dup2(self.log.fileno(), 2)
        try:
            answer = {"ok": True, **handle(request, lambda stage: send({"stage": stage}, pipe))}
        except OSError as e:
            failure = "disk" if e.errno in (errno.ENOSPC, errno.EDQUOT) else "error"
            answer = {"ok": False, "failure": failure, "error": f"{type(e).__name__}: {e}"}
        except BaseException as e:
            answer = {"ok": False, "failure": "error", "error": f"{type(e).__name__}: {e}"[:LOG_LIMIT]}
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        send(answer, pipe)
        os._exit(0)

    def stop(self, why):
        if self.ended is None:
            self.ended = why
            os.kill(self.pid, signal.SIGKILL)

    def late(self):
        return time.monotonic() - self.started > self.seconds

    def read(self):
        """Takes what the child sent; false at its end."""
        data = os.read(self.pipe, 1 << 16)
        self.received += data
        *whole, self.received = self.received.split(b"\n")
        for line in whole:
            message = json.loads(line)
            if "stage" in message and "ok" not in message:
                self.stage = message["stage"]
            else:
                self.answer = message
        return bool(data)

    answer = None

    def finish(self):
        """The reply. The child is gone afterwards."""
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        self.log.seek(0)
        log = self.log.read().decode(errors="replace")
        self.log.close()
        if self.ended:
            reply = {"ok": False, "failure": self.ended, "error": f"stopped after {self.seconds:g} s"}
        elif self.answer is not None:
            reply = self.answer
        else:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            reply = {"ok": False, "failure": "crash", "error": "the process died", "signal": number}
        if len(log) > LOG_LIMIT:
            log = log[:LOG_LIMIT // 2] + "\n...\n" + log[-LOG_LIMIT // 2:]
        return {"stage": self.stage, **reply, "id": self.id, "log": log, "ms": round((time.monotonic() - self.started) * 1000, 1)}


def serve(hello, handle, jobs):
    """Says hello and runs requests, at most `jobs` at once, until standard input ends.

    handle(request, announce) runs in a child: it may crash, change its folder and print. It returns a JSON object and
    calls announce(stage) as it goes.
    """
    send({"ready": True, **hello})
    waiting, running, rest = [], {}, b""
    while True:
        while waiting and len(running) < jobs:
            job = Job(waiting.pop(0), handle)
            running[job.pipe] = job
        ready, _, _ = select.select([0, *running], [], [], 0.1 if running else None)
        for source in ready:
            if source != 0:
                if not running[source].read():
                    send(running.pop(source).finish())
                continue
            data = os.read(0, 1 << 20)
            if not data:
                for job in running.values():
                    job.stop("cancelled")
                    job.finish()
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if "cancel" not in request:
                    waiting.append(request)
                    continue
                dropped = [r for r in waiting if r["id"] == request["cancel"]]
                waiting = [r for r in waiting if r not in dropped]
                for r in dropped:
                    send({"id": r["id"], "ok": False, "failure": "cancelled", "stage": "start", "error": "", "log": ""})
                for job in running.values():
                    if job.id == request["cancel"]:
                        job.stop("cancelled")
        for job in running.values():
            if job.late():
                job.stop("timeout")
