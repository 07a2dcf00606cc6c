# SPDX-License-Identifier: Apache-2.0
"""The Server page: requests that were made appear with their rate, latency and errors."""

import unittest

from selenium.webdriver.common.keys import Keys

import harness


class ServerPage(harness.ConsoleTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.create("Orders")
        for i in range(40):
            cls.server.put("Orders", pk={"S": str(i)})
        for _ in range(7):
            try:
                cls.server.call("GetItem", TableName="Absent", Key={"pk": {"S": "x"}})
            except AssertionError:
                pass

    def row(self, name):
        """The cells of an operation's row."""
        return self.browser.execute_script("""
            const row = [...document.querySelectorAll('[aria-label="Latency by operation"] tbody tr')].find((r) => r.cells[0].textContent === arguments[0]);
            return row ? [...row.cells].map((c) => c.textContent) : null;""", name)

    def legend(self, plot):
        """The texts of a plot's legend."""
        return self.browser.execute_script("""
            const box = [...document.querySelectorAll('.plotbox')].find((e) => e.getAttribute('aria-label') === arguments[0]);
            return [...box.closest('.plot').querySelectorAll('.legend li')].map((e) => [...e.children].map((c) => c.textContent).join(' ').trim());""", plot)

    def test_operations_have_their_counts_and_quantiles(self):
        self.open()
        self.see("Orders")
        self.click("Server")
        row = self.until(lambda: self.row("PutItem"), "PutItem")
        self.assertEqual(row[1], "40")
        for cell in row[3:]:
            self.assertRegex(cell, r"^[0-9.]+ (µs|ms|s)$")
        self.assertEqual(self.row("GetItem")[1], "7")
        self.until(lambda: any(e.startswith("ResourceNotFoundException") for e in self.legend("Errors per second, by code")), "the errors")
        self.assertIn("ready", self.one(".tiles").text)
        self.assertIn("in memory", self.one(".tiles").text)
        self.assertRegex(self.one(".tiles").text, r"Connections\n\d+ of [0-9,]+")
        self.assertRegex(self.one(".tiles").text, r"Request memory\n[0-9.]+ .?B of [0-9.]+ .B")

    def test_new_requests_appear_by_themselves(self):
        self.open("#/server")
        self.until(lambda: self.row("PutItem"))
        self.server.call("DescribeLimits")
        self.until(lambda: self.row("DescribeLimits"), "the request that was made meanwhile")

    def test_the_url_holds_the_view(self):
        self.open("#/server")
        self.until(lambda: self.row("PutItem"))
        self.choose("Time", "The last 5 minutes")
        self.choose("Operation", "PutItem")
        self.until(lambda: "minutes=5" in self.browser.current_url and "operation=PutItem" in self.browser.current_url)
        self.browser.refresh()
        self.until(lambda: self.row("PutItem"))
        self.assertEqual(self.control("Operation").get_attribute("value"), "PutItem")
        self.assertEqual(self.control("Time").get_attribute("value"), "5")

    def test_arrow_keys_read_a_plot(self):
        self.open("#/server")
        self.until(lambda: self.row("PutItem"))
        box = self.one('.plotbox[aria-label="Memory and cache"]')
        self.browser.execute_script("arguments[0].focus()", box)
        self.keys(Keys.ARROW_LEFT)
        spoken = self.browser.execute_script("return arguments[0].closest('.plot').querySelector('[role=status]').textContent", box)
        self.assertRegex(spoken, r"\d:\d\d.*: Process [0-9.]+ MB")
        self.keys(Keys.ESCAPE)
        self.assertEqual(self.browser.execute_script("return arguments[0].closest('.plot').querySelector('[role=status]').textContent", box), "")

    def test_values_are_in_a_table_too(self):
        self.open("#/server")
        self.until(lambda: self.row("PutItem"))
        self.until(lambda: self.all(".values summary")[0].click() or True)
        self.see("PutItem", '[aria-label="Values of Requests per second"]')
        self.see("/s", '[aria-label="Values of Requests per second"]')

    def test_is_accessible(self):
        self.open("#/server")
        self.until(lambda: self.row("PutItem"))
        self.check_accessibility("server")
        self.check_tab_order(20)


class Signed(harness.ConsoleTest):
    """With credentials the page signs its request for the history."""

    @classmethod
    def setUpClass(cls):
        path = harness.pathlib.Path(harness.tempfile.mkdtemp(), "credentials")
        cls.addClassCleanup(harness.shutil.rmtree, path.parent)
        path.write_text("[ann]\naws_access_key_id = AKIDANN\naws_secret_access_key = secret/word+1\n")
        cls.arguments = ("--credentials", str(path))
        super().setUpClass()

    def test_asks_for_a_key_and_shows_the_server(self):
        self.open("#/server")
        self.see("This server requires signatures", "dialog")
        self.fill("Access key ID", "AKIDANN")
        self.fill("Secret access key", "secret/word+1")
        self.click("Use this key")
        self.see("ListTables", '[aria-label="Latency by operation"]')


if __name__ == "__main__":
    unittest.main(verbosity=2)
