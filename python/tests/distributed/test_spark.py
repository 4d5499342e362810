from __future__ import annotations

import os
import sys

import fuselage
import pytest

pytest.importorskip("pyspark")
import fuselage.spark
from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        # Two workers; a task that fails runs again.
        SparkSession.builder.master("local[2, 4]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_rows_are_neither_lost_nor_doubled_when_a_worker_dies(
    spark, killer, lines, expected, options
):
    frame = spark.createDataFrame(list(enumerate(lines)), ["id", "text"]).repartition(20)
    rows = fuselage.spark.translate(frame, column="text", **options).collect()
    killer.join()
    assert killer.killed
    rows.sort(key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(len(lines)))
    assert all(row["translation"] == expected[row["text"]] for row in rows)


def test_nulls_stay_null(spark, options):
    frame = spark.createDataFrame([("Hello.",), (None,)], "text string")
    rows = fuselage.spark.translate(frame, column="text", output="de", **options).collect()
    assert sorted(row["de"] is None for row in rows) == [False, True]


def test_wrong_columns_are_errors(spark):
    frame = spark.createDataFrame([("Hello.", 1)], "text string, n int")
    with pytest.raises(fuselage.Error, match="no column 'texts'; the columns are text, n"):
        fuselage.spark.translate(frame, column="texts")
    with pytest.raises(fuselage.Error, match="the column 'n' has int"):
        fuselage.spark.translate(frame, column="n")
    with pytest.raises(fuselage.Error, match="a column 'n' already"):
        fuselage.spark.translate(frame, column="text", output="n")
