# SPDX-License-Identifier: Apache-2.0
"""Toggles: the timeline of events that `stator toggle` saved, with those that arrived late or again."""

import unittest

from selenium.webdriver.common.keys import Keys

import harness

KEYS = [{"AttributeName": n, "KeyType": k} for n, k in (("pk", "HASH"), ("sk", "RANGE"))]
NAMES = [{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")]


class Toggles(harness.ConsoleTest):
    @classmethod
    def save(cls, toggle, state, at, event, *arguments):
        return cls.server.stator("toggle", "save", toggle, state, "--at", f"2024-05-01T{at}Z", "--event", event, *arguments).strip()

    def with_stream(self, table):
        self.server.call("CreateTable", TableName=table, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=NAMES, KeySchema=KEYS,
                         StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})

    def rows(self):
        """The rows of the events, the newest first."""
        return self.until(lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('[aria-label=\"Events\"] tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))") or False)

    def see_as_of(self, times, key):
        """Moves along the plot's events, and returns what the legend says."""
        self.browser.execute_script("arguments[0].focus()", self.one(".plotbox"))
        self.keys(*[key] * times)
        self.see("As of", ".when")
        return self.one(".when").text, self.one(".legend").text

    def test_late_and_repeated_events_are_marked(self):
        self.with_stream("Marked")
        self.assertEqual(self.save("door", "on", "12:00:00", "e1", "--table", "Marked"), "newest")
        self.assertEqual(self.save("door", "off", "13:00:00.5", "e2", "--table", "Marked"), "newest")
        self.assertEqual(self.save("door", "off", "12:30:00", "e3", "--table", "Marked"), "late")
        self.assertEqual(self.save("door", "on", "12:30:00", "e4", "--table", "Marked"), "late")
        self.assertEqual(self.save("door", "on", "14:00:00", "e2", "--table", "Marked"), "newest")
        self.assertEqual(self.save("door", "on", "14:00:00", "e2", "--table", "Marked"), "duplicate")
        self.save("window", "on", "12:00:00", "w", "--table", "Marked")
        self.open("#/recipes")
        self.click("Marked")
        self.click("door")
        self.assertEqual(self.rows(), [
            ["2024-05-01T14:00:00Z", "on", "e2", "id seen before"],
            ["2024-05-01T13:00:00.5Z", "off", "e2", ""],
            ["2024-05-01T12:30:00Z", "on", "e4", "arrived latesame time"],
            ["2024-05-01T12:30:00Z", "off", "e3", "arrived late"],
            ["2024-05-01T12:00:00Z", "on", "e1", ""]])
        self.see("2024-05-01T14:00:00Z, event e2")
        self.assertIn("Arrived late 2", self.one(".legend").text.replace("\n", " "))
        self.until(lambda: len(self.browser.find_elements("css selector", ".picture .mark.late")) == 2)
        self.check_accessibility("toggle")
        self.check_tab_order(10)

    def test_the_plot_shows_what_held(self):
        self.save("lamp", "on", "12:00:00", "a")
        self.save("lamp", "off", "13:00:00", "b")
        self.open("#/recipes/toggles/Toggles?toggle=lamp")
        self.assertEqual(len(self.rows()), 2)
        when, legend = self.see_as_of(1, Keys.HOME)
        self.assertEqual(when, "As of 2024-05-01 12:00:00 UTC")
        self.assertIn("on (event a at 2024-05-01T12:00:00Z)", legend)
        # Between two events, under the pointer, the earlier one holds.
        box = self.one(".plotbox")
        harness.ActionChains(self.browser).move_to_element_with_offset(box, box.size["width"] // 4, 0).perform()
        self.see("As of 2024-05-01 12:", ".when")
        self.assertIn("on (event a", self.one(".legend").text)
        expected = self.server.stator("toggle", "as-of", "lamp", self.one(".when").text[len("As of "):-len(" UTC")].replace(" ", "T") + "Z")
        self.assertEqual(expected.split("\t")[0], "on")
        self.see("The log does not say when an event arrived")

    def test_states_are_of_any_kind(self):
        for i, state in enumerate(("1.5", "-3", "12345678901234567890")):
            self.save("count#%1", state, f"12:0{i}:00", f"n{i}", "--table", "Kinds")
        for i, state in enumerate((harness.MARKUP, "b", harness.MARKUP)):
            self.save(harness.MARKUP, state, f"12:0{i}:00", f"{harness.MARKUP}{i}", "--table", "Kinds")
        self.open("#/recipes/toggles/Kinds")
        self.click("count#%1")
        self.assertEqual([row[1] for row in self.rows()], ["12345678901234567890", "-3", "1.5"])
        self.click(harness.MARKUP)
        self.until(lambda: [row[1:3] for row in self.rows()][0] == [harness.MARKUP, harness.MARKUP + "2"])
        self.assertIn(harness.MARKUP, self.one(".legend").text)

    def test_a_gated_table_says_that_late_events_are_gone(self):
        self.save("g", "on", "12:00:00", "a", "--table", "Gated", "--gated")
        self.assertEqual(self.save("g", "off", "11:00:00", "b", "--table", "Gated", "--gated"), "late")
        self.open("#/recipes/toggles/Gated?toggle=g")
        self.see("Late events leave nothing behind.")
        self.assertEqual(len(self.rows()), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
