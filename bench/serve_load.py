"""Loads a server with LibreTranslate's POST /translate, from many clients or at a rate, and prints
requests a second, latencies, statuses and the server's memory as a row of a table. Needs aiohttp.

  serve_load.py http://127.0.0.1:5000 sentences.en --clients 32 --seconds 20 --pid PID

With --clients, each client sends its next request when it has the reply to the last one, on a
connection that stays open. With --rate, requests begin at that rate, whether others are answered or
not.
With --expected, each sentence is sent once, and its translation compared with a line of that file:

  fuselage translate --text <sentences.en >expected.de
  serve_load.py http://127.0.0.1:5000 sentences.en --clients 32 --expected expected.de

With --health, GET /health is timed beside the load on connections of its own."""

import argparse
import asyncio
import collections
import random
import time

import aiohttp


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("sentences", help="file with a sentence a line")
    load = parser.add_mutually_exclusive_group(required=True)
    load.add_argument("--clients", type=int)
    load.add_argument("--rate", type=float, help="requests a second")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warm-up", type=float, default=3, help="seconds that do not count")
    parser.add_argument("--pid", type=int, help="of the server, for its memory")
    parser.add_argument("--expected", help="file with the translation of each sentence")
    parser.add_argument("--health", action="store_true")
    parser.add_argument("--label", default="")
    return parser.parse_args()


def memory_of(pid):
    """Resident MiB of a process, 0 if it is not known."""
    if not pid:
        return 0
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0


class Load:
    def __init__(self, options):
        self.options = options
        with open(options.sentences, encoding="utf-8") as file:
            self.sentences = [line.strip() for line in file if line.strip()]
        self.random = random.Random(1)
        self.order = None  # of sentences that are still to be sent, where each is sent once
        if options.expected:
            with open(options.expected, encoding="utf-8") as file:
                self.expected = dict(zip(self.sentences, map(str.strip, file), strict=True))
            self.order = iter(self.random.sample(self.sentences, len(self.sentences)))
            self.others = []  # sentences with another translation than expected
        self.done = collections.defaultdict(list)  # status: seconds of each request
        self.without_retry = 0
        self.health = []
        self.most_memory = 0

    async def send(self, session):
        sentence = next(self.order, None) if self.order else self.random.choice(self.sentences)
        if sentence is None:
            return None
        body = {"q": sentence, "source": "en", "target": "de"}
        begin = time.monotonic()
        status = 0
        try:
            async with session.post(self.options.address + "/translate", json=body) as reply:
                content = await reply.json()
                status = reply.status
                if self.order and content.get("translatedText", "").strip() != self.expected[sentence]:
                    self.others.append(sentence)
                if status == 429 and "Retry-After" not in reply.headers:
                    self.without_retry += 1
        except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
            status = type(error).__name__
        now = time.monotonic()
        if now > self.counts_from and now < self.ends:
            self.done[status].append(now - begin)
        return status

    async def client(self, session):
        while time.monotonic() < self.ends:
            status = await self.send(session)
            if status is None:
                break
            if status == 429:
                await asyncio.sleep(1)

    async def at_rate(self, session):
        under_way = set()
        next_at = time.monotonic()
        while next_at < self.ends:
            await asyncio.sleep(max(0, next_at - time.monotonic()))
            task = asyncio.create_task(self.send(session))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
            next_at += self.random.expovariate(self.options.rate)
        await asyncio.gather(*under_way)

    async def watch(self):
        while time.monotonic() < self.ends:
            self.most_memory = max(self.most_memory, memory_of(self.options.pid))
            if self.options.health:
                await self.ask_health()
            await asyncio.sleep(0.5)

    async def ask_health(self):
        begin = time.monotonic()
        ok = False
        try:
            connector = aiohttp.TCPConnector(force_close=True)
            async with (
                aiohttp.ClientSession(connector=connector) as session,
                session.get(self.options.address + "/health") as reply,
            ):
                ok = reply.status == 200
        except (aiohttp.ClientError, OSError, asyncio.TimeoutError):
            pass
        self.health.append((time.monotonic() - begin) if ok else float("inf"))

    async def run(self):
        begin = time.monotonic()
        self.counts_from = begin + self.options.warm_up
        self.ends = self.counts_from + self.options.seconds
        timeout = aiohttp.ClientTimeout(total=120)
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=timeout
        ) as session:
            watching = asyncio.create_task(self.watch())
            if self.options.rate:
                await self.at_rate(session)
            else:
                await asyncio.gather(*(self.client(session) for _ in range(self.options.clients)))
            watching.cancel()

    def report(self):
        answered = sorted(self.done[200])

        def at(share):
            return answered[min(len(answered) - 1, int(share * len(answered)))] if answered else 0

        statuses = " ".join(
            f"{status}:{len(times)}" for status, times in self.done.items() if times
        )
        load = f"{self.options.rate:g}/s" if self.options.rate else f"{self.options.clients}"
        row = [
            self.options.label,
            load,
            f"{len(answered) / self.options.seconds:.1f}/s",
            *(f"{1000 * at(share):.0f}" for share in (0.5, 0.95, 0.99)),
            f"{1000 * answered[-1]:.0f}" if answered else "-",
            f"{self.most_memory:.0f} MiB",
            statuses,
        ]
        if self.without_retry:
            row.append(f"429 without Retry-After: {self.without_retry}")
        if self.order:
            row.append(f"{len(self.others)} of {len(self.sentences)} differ")
        if self.health:
            times = sorted(self.health)
            row.append(
                f"health {1000 * times[len(times) // 2]:.0f} to {1000 * times[-1]:.0f} ms, "
                f"failed {times.count(float('inf'))} of {len(times)}"
            )
        print("| " + " | ".join(row) + " |", flush=True)


def main():
    load = Load(parse_arguments())
    asyncio.run(load.run())
    load.report()


if __name__ == "__main__":
    main()
