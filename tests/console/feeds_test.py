# SPDX-License-Identifier: Apache-2.0
"""Feeds: posts as `stator feed read` prints them, followers, and posts that wait for delivery."""

import unittest

import harness

OPTIONS = {"plain": [], "merged": ["--table", "Merged", "--followers-table", "Relations", "--merge-over", "1"],
           "stream": ["--table", "Streamed", "--followers-table", "StreamedFollowers", "--stream-outbox"]}


class Feeds(harness.ConsoleTest):
    @classmethod
    def feed(cls, verb, *arguments, of="plain"):
        return cls.server.stator("feed", verb, *OPTIONS[of], *arguments).strip()

    def posts(self):
        """[author, time, content] of the posts that are shown."""
        return self.browser.execute_script("""
            return [...document.querySelectorAll('.post')].map((e) => [e.querySelector('a').textContent, e.querySelector('small').textContent, e.querySelector('p').textContent]);""")

    def read(self, user, of="plain"):
        """The same of the command."""
        return [[author, at, content] for _, at, author, content in
                (line.split("\t") for line in self.feed("read", user, "--limit", "1000", of=of).splitlines())]

    def test_a_feed_is_what_its_reader_reads(self):
        self.feed("follow", "bob", "ann")
        self.feed("follow", "bob", harness.MARKUP)
        self.feed("post", "ann", "Helo")
        second = self.feed("post", "ann", "Unwise")
        self.feed("post", harness.MARKUP, harness.MARKUP)
        self.feed("post", "bob", "Mine")
        self.feed("edit", "ann", self.feed("post", "ann", "Later"), "Later, edited")
        self.feed("deliver")
        self.feed("retract", "ann", second)
        self.feed("deliver")
        self.open("#/recipes")
        self.click("Feeds")
        self.click("bob")
        self.until(lambda: len(self.posts()) == 4)
        self.assertEqual(self.posts(), self.read("bob"))
        self.assertIn(harness.MARKUP, [content for *_, content in self.posts()])
        self.assertNotIn("Unwise", self.one(".panel").text)
        self.see("edited 1 time", ".post")
        self.see("Followers (0)")
        self.click("ann")
        self.see("Feed of ann")
        self.see("Followers (1)")
        self.see("bob", ".names")
        self.see("Nothing waits.")
        self.check_accessibility("feed")
        self.check_tab_order(12)

    def test_posts_wait_until_a_worker_delivers_them(self):
        self.feed("follow", "cid", "dan")
        self.feed("post", "dan", "News")
        self.open("#/recipes/feeds/Feeds?user=dan")
        self.see("waits for a worker", ".post")
        self.see("dan", '[aria-label="Posts that wait for delivery"]')
        self.feed("deliver")
        self.click("Refresh")
        self.see("delivered", ".post")
        self.see("Nothing waits.")
        self.fill("Open a feed", "cid")
        self.keys(harness.Keys.ENTER)
        self.see("News", ".post p")

    def test_older_posts_follow_in_pages(self):
        for i in range(45):
            self.feed("post", "pia", f"post {i}")
        self.open("#/recipes/feeds/Feeds?user=pia")
        self.see("20 posts, older ones follow")
        self.click("Older posts")
        self.see("40 posts, older ones follow")
        self.click("Older posts")
        self.see("45 posts")
        self.assertEqual([content for *_, content in self.posts()], [f"post {i}" for i in reversed(range(45))])
        self.assertNotIn("Older posts", [e.text for e in self.all("button")])

    # Otherwise workers begin to merge after 15 minutes.
    def merge_from_the_beginning(self):
        self.server.put("Merged", partition_key={"S": "SETTINGS#"}, range_key={"S": "SETTINGS"}, stator_version={"N": "1"},
                        stator_settings={"M": {"merged_from": {"N": "0"}}})

    def test_merged_authors_are_merged(self):
        for user in ("x", "y"):
            self.feed("follow", user, "star", of="merged")
        self.merge_from_the_beginning()
        self.feed("follow", "x", "few", of="merged")
        for i in range(13):
            self.feed("post", "star", f"star {i}", of="merged")
            self.feed("post", "few", f"few {i}", of="merged")
        self.feed("deliver", of="merged")
        self.open("#/recipes/feeds/Merged?user=x&followers=Relations")
        self.see("20 posts, older ones follow")
        self.click("Older posts")
        self.see("26 posts")
        self.assertEqual(self.posts(), self.read("x", of="merged"))
        self.see("Follows (2)")
        self.see("merged", ".post .badge")
        self.fill("Open a feed", "star")
        self.keys(harness.Keys.ENTER)
        self.see("merged when read", ".post")

    def test_the_list_of_merged_authors_is_read_up_to_a_bound(self):
        for user in ("p", "q"):
            self.feed("follow", user, "lead", of="merged")
        self.merge_from_the_beginning()
        self.feed("post", "lead", "From the one author", of="merged")
        self.feed("deliver", of="merged")
        self.open("#/recipes/feeds/Merged?user=p&followers=Relations")
        self.see("From the one author", ".post p")
        self.assertNotIn("are missing", self.one(".panel").text)
        listed = self.server.call("Query", TableName="Merged", KeyConditionExpression="partition_key = :p",
                                  ExpressionAttributeValues={":p": {"S": "MERGED#"}})["Items"]
        self.server.put("Merged", partition_key={"S": "MERGED#"}, range_key={"S": "AUTHORS#99"}, authors={"SS": [f"other {i}" for i in range(5001)]})
        self.assertTrue(listed)
        self.click("Refresh")
        self.see("Posts of some merged authors are missing")
        self.see("From the one author", ".post p")

    def test_a_stream_as_outbox_has_no_list_of_what_waits(self):
        self.feed("follow", "s", "t", of="stream")
        self.feed("post", "t", "In the stream", of="stream")
        self.open("#/recipes/feeds/Streamed?user=t&followers=StreamedFollowers")
        self.see("waits for a worker", ".post")
        self.see("The table has no index of posts that wait")

    def test_keys_that_count_down_are_read_too(self):
        self.server.call("CreateTable", TableName="Ticks", BillingMode="PAY_PER_REQUEST",
                         AttributeDefinitions=[{"AttributeName": "partition_key", "AttributeType": "S"}, {"AttributeName": "range_key", "AttributeType": "N"}],
                         KeySchema=[{"AttributeName": "partition_key", "KeyType": "HASH"}, {"AttributeName": "range_key", "KeyType": "RANGE"}])
        noon = 1714564800 * 10**9
        for seconds, content in ((0, "first"), (1, "second"), (2, "gone"), (3, "third")):
            self.server.put("Ticks", partition_key={"S": "ann"}, range_key={"N": f"{2**63 - 1 - noon - seconds * 10**9}.5"}, author={"S": "ann"},
                            **({"retracted": {"BOOL": True}} if content == "gone" else {"content": {"S": content}}))
        self.open("#/recipes/feeds/Ticks?user=ann")
        self.see("3 posts")
        self.assertEqual(self.posts(), [["ann", "2024-05-01T12:00:03Z", "third"], ["ann", "2024-05-01T12:00:01Z", "second"], ["ann", "2024-05-01T12:00:00Z", "first"]])

    def test_followers_elsewhere_are_not_shown(self):
        self.feed("post", "lone", "Hello")
        self.open("#/recipes/feeds/Feeds?user=lone&followers=Nowhere")
        self.see("Hello", ".post p")
        self.see("The followers table Nowhere does not exist.")


if __name__ == "__main__":
    unittest.main(verbosity=2)
