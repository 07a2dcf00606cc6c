# SPDX-License-Identifier: Apache-2.0
"""PynamoDB, an object mapper, on its everyday work."""

import os
import unittest
from datetime import datetime, timezone

from pynamodb.attributes import (
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import (
    AllProjection,
    GlobalSecondaryIndex,
    KeysOnlyProjection,
    LocalSecondaryIndex,
)
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite


class ByAuthor(GlobalSecondaryIndex):
    class Meta:
        index_name = "ByAuthor"
        projection = AllProjection()

    author = UnicodeAttribute(hash_key=True)
    written = UTCDateTimeAttribute(range_key=True)


class ByViews(LocalSecondaryIndex):
    class Meta:
        index_name = "ByViews"
        projection = KeysOnlyProjection()

    forum = UnicodeAttribute(hash_key=True)
    views = NumberAttribute(range_key=True)


class Place(MapAttribute):
    city = UnicodeAttribute()
    floor = NumberAttribute(null=True)


class Thread(Model):
    class Meta:
        table_name = "Threads"
        host = os.environ["ENDPOINT"]
        region = "us-east-1"
        billing_mode = "PAY_PER_REQUEST"

    forum = UnicodeAttribute(hash_key=True)
    subject = UnicodeAttribute(range_key=True)
    author = UnicodeAttribute(default="nobody")
    written = UTCDateTimeAttribute(default=datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc))
    views = NumberAttribute(default=0)
    tags = UnicodeSetAttribute(null=True)
    notes = ListAttribute(default=list)
    place = Place(null=True)
    version = VersionAttribute()
    by_author = ByAuthor()
    by_views = ByViews()


class Mapper(unittest.TestCase):
    def setUp(self):
        Thread.create_table(wait=True)
        self.addCleanup(Thread.delete_table)

    def test_keeps_objects_as_they_are(self):
        Thread(
            "db",
            "keys",
            tags={"a", "b"},
            notes=["x", 1, None, {"deep": [True]}],
            place=Place(city="Bern", floor=-1),
        ).save()
        kept = Thread.get("db", "keys", consistent_read=True)
        self.assertEqual(
            (kept.tags, kept.notes, kept.place.city, kept.place.floor, kept.version),
            ({"a", "b"}, ["x", 1, None, {"deep": [True]}], "Bern", -1, 1),
        )
        self.assertEqual(kept.written, datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc))
        with self.assertRaises(DoesNotExist):
            Thread.get("db", "nothing")

    def test_versions_keep_writers_apart(self):
        first, second = Thread("db", "race"), None
        first.save()
        second = Thread.get("db", "race")
        first.update(actions=[Thread.views.add(1), Thread.tags.add({"new"})])
        with self.assertRaises(UpdateError):
            second.update(actions=[Thread.views.set(99)])
        with self.assertRaises(PutError):
            Thread("db", "race").save()
        self.assertEqual(Thread.get("db", "race").views, 1)

    def test_updates_inner_attributes_under_conditions(self):
        thread = Thread("db", "inner", place=Place(city="Rome", floor=2), notes=["a"])
        thread.save()
        thread.update(
            actions=[
                Thread.place.floor.set(Thread.place.floor + 1),
                Thread.notes.set(Thread.notes.append(["b"])),
                Thread.author.remove(),
            ],
            condition=(Thread.place.city == "Rome")
            & Thread.author.exists()
            & ~Thread.tags.exists(),
        )
        self.assertEqual((thread.place.floor, thread.notes), (3, ["a", "b"]))
        with self.assertRaises(UpdateError):
            thread.update(actions=[Thread.views.set(1)], condition=Thread.author.startswith("no"))

    def test_queries_tables_and_indexes_in_pages(self):
        with Thread.batch_write() as batch:
            for number in range(40):
                batch.save(
                    Thread(
                        "pages",
                        "%02d" % number,
                        author="ann" if number % 2 else "ben",
                        views=100 - number,
                        written=datetime(2021, 1, 1, 0, number, tzinfo=timezone.utc),
                    )
                )
        self.assertEqual(
            [
                t.subject
                for t in Thread.query("pages", Thread.subject.between("10", "19"), page_size=3)
            ],
            ["%d" % number for number in range(10, 20)],
        )
        late = Thread.by_author.query(
            "ann",
            ByAuthor.written >= datetime(2021, 1, 1, 0, 30, tzinfo=timezone.utc),
            scan_index_forward=False,
        )
        self.assertEqual([t.subject for t in late], ["39", "37", "35", "33", "31"])
        self.assertEqual([t.subject for t in Thread.by_views.query("pages", limit=2)], ["39", "38"])
        self.assertEqual(
            Thread.count("pages", filter_condition=Thread.author.is_in("ann", "cat")), 20
        )
        pages = Thread.scan(limit=15, page_size=10)
        self.assertEqual(len(list(pages)), 15)
        self.assertEqual(len(list(Thread.scan(last_evaluated_key=pages.last_evaluated_key))), 25)
        self.assertEqual(
            len(list(Thread.batch_get([("pages", "%02d" % number) for number in range(35, 45)]))), 5
        )

    def test_transactions(self):
        connection = Connection(host=os.environ["ENDPOINT"], region="us-east-1")
        thread = Thread("tx", "one")
        thread.save()
        with TransactWrite(connection=connection) as transaction:
            transaction.save(Thread("tx", "two"))
            transaction.update(Thread("tx", "one", version=1), actions=[Thread.views.add(5)])
        with TransactGet(connection=connection) as transaction:
            one, two = transaction.get(Thread, "tx", "one"), transaction.get(Thread, "tx", "two")
        self.assertEqual((one.get().views, two.get().views), (5, 0))
        with self.assertRaises(TransactWriteError) as caught:
            with TransactWrite(connection=connection) as transaction:
                transaction.delete(Thread("tx", "two", version=1))
                transaction.condition_check(Thread, "tx", "one", condition=Thread.views > 100)
        self.assertEqual(
            [reason and reason.code for reason in caught.exception.cancellation_reasons],
            ["ConditionalCheckFailed", None],
        )  # checks go first
        self.assertEqual(Thread.get("tx", "two").subject, "two")
