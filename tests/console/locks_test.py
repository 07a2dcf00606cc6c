# SPDX-License-Identifier: Apache-2.0
"""Locks: holders of `stator lock run`, those who wait in line, the end of leases, and breaking."""

import os
import signal
import subprocess
import unittest

import harness


class Locks(harness.ConsoleTest):
    def setUp(self):
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.terminate()  # the command too
            process.wait(timeout=harness.WAIT_S)
        super().tearDown()

    def run_under(self, name, user, *arguments):
        process = subprocess.Popen([os.environ["STATOR"], "lock", "run", name, "--endpoint", self.server.url, "--user", user, *arguments, "--", "sleep", "120"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def card(self, name):
        return self.until(lambda: next((e for e in self.all("section.card") if e.find_element("css selector", "h2").text == name), None), name)

    def rows(self, label):
        return self.browser.execute_script("""
            const region = [...document.querySelectorAll('[role=region]')].find((e) => e.getAttribute('aria-label') === arguments[0]);
            return region ? [...region.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent)) : [];""", label)

    def item(self, name):
        return self.server.call("GetItem", TableName="Locks", Key={"pk": {"S": "LOCK#" + name}})["Item"]

    def test_holders_and_waiters_are_shown_as_they_come(self):
        self.run_under("nightly", harness.MARKUP, "--lease", "30s")
        self.until(lambda: "held" in self.server.stator("lock", "show", "nightly"))
        self.open("#/recipes")
        self.click("Locks")
        self.until(lambda: len(self.rows("Holders of nightly")) == 1)
        self.assertIn("1 of 1 held", self.card("nightly").text)
        holder, fence, since, left, _ = self.rows("Holders of nightly")[0]
        self.assertTrue(holder.startswith(harness.MARKUP), holder)
        self.assertEqual(fence, "1")
        self.assertRegex(since, r"^\d{4}-\d\d-\d\dT")
        self.assertRegex(left, r"^[12]?\d(\.\d)? s$|^30 s$")
        self.run_under("nightly", "ben", "--fifo", "--lease", "30s")
        self.until(lambda: len(self.rows("Those who wait in line for nightly")) == 1, "the one who waits in line")
        self.assertTrue(self.rows("Those who wait in line for nightly")[0][0].startswith("ben"))
        self.check_accessibility("locks")
        self.check_tab_order(8)

    def test_the_lease_counts_down_until_it_has_expired(self):
        process = self.run_under("dead", "eve", "--lease", "3s")
        self.open("#/recipes/locks/Locks")
        self.until(lambda: self.rows("Holders of dead"))
        # Renewed all the time: more is left than without renewal.
        lefts = set()
        self.until(lambda: lefts.add(self.rows("Holders of dead")[0][3]) or len(lefts) > 5)
        for left in lefts:
            self.assertRegex(left, r"^[0-3]\.\d s$")
        process.send_signal(signal.SIGKILL)
        self.until(lambda: self.rows("Holders of dead")[0][3] == "expired")
        self.assertIn("1 of 1 held", self.card("dead").text)

    def test_a_lock_is_broken_after_confirmation(self):
        process = self.run_under("stuck", "ann", "--lease", "1s")
        self.open("#/recipes/locks/Locks?name=stuck")
        self.until(lambda: self.rows("Holders of stuck"))
        self.click("Break the lock")
        self.see("stuck is taken from ann", "dialog")
        self.click("Cancel")
        self.assertEqual(self.item("stuck")["held"]["N"], "1")
        self.click("Break the lock")
        self.see("stuck is taken from ann", "dialog")
        self.check_accessibility("lock-break")
        self.click("Break the lock")
        self.see("free", "section.card")
        self.see("fence 2, broken with fence 2")
        item = self.item("stuck")
        self.assertEqual({name: item[name]["N"] for name in ("held", "fence", "broken")}, {"held": "0", "fence": "2", "broken": "2"})
        self.assertEqual([name for name in item if ":" in name], [])
        self.assertEqual(process.wait(timeout=harness.WAIT_S), 75)
        self.assertEqual(self.server.stator("lock", "show", "stuck").strip(), "free")

    def test_one_of_several_holders_is_broken(self):
        for user in ("one", "two", "three"):
            self.run_under("licence", user, "--permits", "3", "--lease", "30s")
        self.open("#/recipes/locks/Locks")
        self.until(lambda: len(self.rows("Holders of licence")) == 3)
        self.click("Break the lease of two")
        self.see("licence is taken from two", "dialog")
        self.browser.execute_script("[...document.querySelectorAll('dialog[open] button[type=submit]')][0].click()")
        self.until(lambda: len(self.rows("Holders of licence")) == 2)
        self.assertEqual(sorted(row[0].split()[0] for row in self.rows("Holders of licence")), ["one", "three"])
        self.assertEqual(self.item("licence")["broken"]["N"], "4")

    def test_a_lock_that_changed_is_not_broken(self):
        self.server.stator("lock", "run", "changed", "--", "true")
        self.run_under("changed", "ann", "--lease", "30s")
        self.open("#/recipes/locks/Locks?name=changed")
        self.until(lambda: self.rows("Holders of changed"))
        self.click("Follow")
        self.click("Break the lock")
        self.see("changed is taken from ann", "dialog")
        self.server.stator("lock", "break", "changed")
        self.run_under("changed", "ben", "--lease", "30s")
        self.until(lambda: self.server.call("GetItem", TableName="Locks", Key={"pk": {"S": "LOCK#changed"}})["Item"]["held"]["N"] == "1")
        self.click("Break the lock")
        self.see("The lock has changed since it was shown.", "dialog")
        self.assertEqual(self.item("changed")["held"]["N"], "1")
        self.click("Cancel")

    def test_free_locks_are_shown_on_request(self):
        self.server.stator("lock", "run", "once", "--", "true")
        self.open("#/recipes/locks/Locks")
        self.see("lock", ".facts-line")
        self.assertNotIn("once", [e.text for e in self.all("section.card h2")])
        self.click("Free locks too")
        self.card("once")
        self.assertIn("all=1", self.browser.current_url)


if __name__ == "__main__":
    unittest.main(verbosity=2)
