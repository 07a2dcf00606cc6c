# SPDX-License-Identifier: Apache-2.0
"""Streams: changes appear as they happen, with the difference of their images."""

import unittest

import harness


class Streams(harness.ConsoleTest):
    def create(self, table, view="NEW_AND_OLD_IMAGES"):
        self.server.create(table, StreamSpecification={"StreamEnabled": True, "StreamViewType": view})

    def changes(self):
        return [e.text for e in self.all(".change")]

    def test_changes_are_followed_with_their_difference(self):
        self.create("Followed")
        self.server.put("Followed", pk={"S": "before"})
        self.open("#/tables/Followed/stream")
        self.see("Following 4 shards")
        self.server.put("Followed", pk={"S": "x"}, n={"N": "12345678901234567890123456789012345678"}, same={"S": "same"}, old={"S": "gone"})
        self.until(lambda: len(self.changes()) == 1)
        self.assertIn("12345678901234567890123456789012345678", self.changes()[0])
        self.server.put("Followed", pk={"S": "x"}, n={"N": "2"}, same={"S": "same"}, html={"S": harness.MARKUP})
        self.until(lambda: len(self.changes()) == 2)
        newest = self.one(".change")
        self.assertNotIn("same", newest.text)
        self.assertIn(harness.MARKUP, newest.text)
        removed = [e.text for e in self.all(".change:first-child td.removed")]
        added = [e.text for e in self.all(".change:first-child td.added")]
        self.assertEqual(removed, ["N 12345678901234567890123456789012345678", "S gone"])
        self.assertEqual(sorted(added), ["N 2", "S " + harness.MARKUP])
        self.server.call("DeleteItem", TableName="Followed", Key={"pk": {"S": "x"}})
        self.until(lambda: len(self.changes()) == 3)
        self.assertIn("removed", self.changes()[0])
        self.check_accessibility("stream")
        self.check_tab_order(14)
        self.fill("Filter changes", "12345678")
        self.until(lambda: len(self.changes()) == 2)
        self.fill("Filter changes", "")
        self.click("Follow")
        self.see("Paused")
        self.server.put("Followed", pk={"S": "later"})
        self.click("Follow")
        self.until(lambda: len(self.changes()) == 4)
        self.click("Clear")
        self.see("No changes yet")
        self.choose("Start with", "All changes of the last day")
        self.until(lambda: len(self.changes()) == 5)
        self.assertIn("before", self.changes()[-1])
        self.browser.refresh()
        self.until(lambda: len(self.changes()) == 5)
        self.choose("Start with", "Changes of the last hour")
        self.until(lambda: len(self.changes()) == 5)
        self.browser.refresh()
        self.until(lambda: len(self.changes()) == 5)
        self.assertIn("before", self.changes()[-1])

    def test_streams_of_keys_show_keys(self):
        self.create("Keys", "KEYS_ONLY")
        self.open("#/tables/Keys/stream")
        self.see("Following 4 shards")
        self.server.put("Keys", pk={"S": harness.MARKUP}, a={"S": "b"})
        self.until(lambda: len(self.changes()) == 1)
        self.assertIn(harness.MARKUP, self.changes()[0])

    def test_a_table_without_a_stream_says_where_to_turn_it_on(self):
        self.server.create("Silent")
        self.open("#/tables/Silent/stream")
        self.click("Turn it on in the overview.")
        self.choose("Records contain", "New image")
        self.click("Save stream")
        self.see("The stream is saved")
        self.click("Stream")
        self.see("Following 4 shards")


if __name__ == "__main__":
    unittest.main(verbosity=2)
