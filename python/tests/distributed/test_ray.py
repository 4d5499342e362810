from __future__ import annotations

import fuselage
import pytest

ray = pytest.importorskip("ray")
ray_data = pytest.importorskip("ray.data")
import fuselage.ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster():
    # Two for the actors, one for the tasks that feed them.
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_rows_are_neither_lost_nor_doubled_when_a_worker_dies(killer, lines, expected, options):
    dataset = ray.data.from_items([{"id": i, "text": line} for i, line in enumerate(lines)])
    dataset = dataset.repartition(40)
    translated = fuselage.ray.translate(
        dataset, column="text", workers=2, batch_size=250, **options
    )
    rows = sorted(translated.take_all(), key=lambda row: row["id"])
    killer.join()
    assert killer.killed
    assert [row["id"] for row in rows] == list(range(len(lines)))
    assert all(row["translation"] == expected[row["text"]] for row in rows)


def test_missing_values_stay_missing(options):
    dataset = ray.data.from_items([{"text": "Hello."}, {"text": None}])
    rows = fuselage.ray.translate(dataset, column="text", output="de", **options).take_all()
    assert [row["de"] is None for row in sorted(rows, key=lambda row: row["text"] is None)] == [
        False,
        True,
    ]


def test_wrong_columns_are_errors():
    dataset = ray.data.from_items([{"text": "Hello.", "n": 1}])
    with pytest.raises(fuselage.Error, match="no column 'texts'; the columns are"):
        fuselage.ray.translate(dataset, column="texts")
    with pytest.raises(fuselage.Error, match="a column 'n' already"):
        fuselage.ray.translate(dataset, column="text", output="n")
