"""Signals, event loops, other processes and memory."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import time

import fuselage
import pytest

LONG = """
import fuselage, itertools, sys
translator = fuselage.Translator(threads=2)
scorer = fuselage.Scorer(threads=2)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        'translator.translate(["Tom is my friend, and he lives in a house."] * 1000000)',
        'scorer.score(["Tom is my friend."] * 1000000, ["Tom ist mein Freund."] * 1000000)',
        'sum(1 for _ in translator.translate(itertools.repeat("Tom is my friend.")))',
    ],
)
def test_an_interrupt_ends_a_long_call_within_a_second(call):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG.format(call=call)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert time.monotonic() - began < 1.5
    assert child.wait(timeout=10) == 0


def test_tasks_of_an_event_loop(translator):
    async def two():
        return await asyncio.gather(
            translator.translate_async("Tom is my friend."),
            translator.translate_async(["Where is the station?"]),
        )

    assert asyncio.run(two()) == ["Tom ist mein Freund.", ["Wo ist der Bahnhof?"]]


def test_a_cancelled_task_ends(translator, lines):
    async def cancel():
        task = asyncio.create_task(translator.translate_async(lines * 100))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(cancel())  # also waits for the thread
    assert time.monotonic() - began < 5


def test_a_task_has_the_errors_of_the_call(translator):
    with pytest.raises(fuselage.Error, match="guides"):
        asyncio.run(translator.translate_async(["a"], []))


def test_a_pickled_translator_translates(translator):
    copy = pickle.loads(pickle.dumps(fuselage.Translator(beam_size=2, threads=1)))
    assert copy.translate("Tom is my friend.") == "Tom ist mein Freund."
    scorer = pickle.loads(pickle.dumps(fuselage.Scorer()))
    assert scorer.score("Hello.", "Hallo.").score < 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_has_to_make_its_own(translator):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            translator.translate("Hello.")
        except fuselage.Error as error:
            status = 0 if "os.fork()" in str(error) else 2
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_many_calls_take_no_more_memory(translator):
    def calls(count):
        for _ in range(count):
            translator.translate("Hi.")
            translator.translate_details(["Hi."])[0].n_best[0].word_scores.sum()
            with pytest.raises(TypeError):
                translator.translate(3)
        gc.collect()

    calls(500)
    before = peak_megabytes()
    calls(5000)
    assert peak_megabytes() - before < 10


def test_translators_give_their_memory_back():
    def make():
        fuselage.Translator().translate("Hi.")
        gc.collect()

    for _ in range(3):
        make()
    before = peak_megabytes()
    for _ in range(10):
        make()
    assert peak_megabytes() - before < 60
