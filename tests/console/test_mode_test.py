# SPDX-License-Identifier: Apache-2.0
"""The Test mode page: the rules of the server's faults and their counts."""

import json
import unittest
import urllib.request

from selenium.webdriver.common.by import By

import harness

MARKUP = harness.MARKUP


class TestMode(harness.ConsoleTest):
    arguments = ("--test-mode", "{}")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.create("Orders")

    def rules(self, *rules):
        """Replaces the rules, or returns them without their counts."""
        body = json.dumps({"rules": rules}).encode() if rules else None
        request = urllib.request.Request(self.server.url + "/_stator/test-mode", body, method="PUT" if rules else "GET")
        with urllib.request.urlopen(request, timeout=harness.WAIT_S) as response:
            found = json.load(response)["rules"]
        return [{name: value for name, value in rule.items() if name not in ("matched", "injected")} for rule in found]

    def clear(self):
        self.rules({"fault": "internal_error", "tables": ["Nothing"]})
        self.open("#/test-mode")
        self.click("Delete all rules")
        self.named("Delete all rules", "dialog button").click()
        self.see("There are no rules")

    def row(self, number):
        """The cells of a rule."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('main tbody tr')].map((r) => [...r.cells].slice(0, 8).map((c) => c.textContent))[arguments[0] - 1]",
            number)

    def test_rules_are_added_changed_and_deleted(self):
        self.clear()
        self.open()
        self.click("Test mode")
        self.click("Add rule")
        self.choose("Fault", "Throttling")
        self.fill("Tables", "Orders, Others")
        self.fill("Operations", "PutItem")
        self.fill("Last request", "2")
        self.choose("Exception", "Throttling")
        self.choose("Reason", "KeyRangeThroughputExceeded")
        self.check_accessibility("test-mode-rule")
        self.click("Save rule")
        self.see("The rule is saved")
        throttling = {"fault": "throttling", "tables": ["Orders", "Others"], "operations": ["PutItem"], "last": 2,
                      "error": "ThrottlingException", "limit": "KeyRangeThroughputExceeded"}
        self.assertEqual(self.rules(), [throttling])
        for _ in range(2):
            with self.assertRaisesRegex(AssertionError, "hot key"):
                self.server.put("Orders", pk={"S": "a"})
        self.server.put("Orders", pk={"S": "a"})
        self.until(lambda: self.row(1) == ["1", "Throttling", "ThrottlingException, KeyRangeThroughputExceeded", "Orders, Others", "PutItem",
                                           "1 to 2", "3", "2"], "the counts")
        self.click("Add rule")
        self.choose("Fault", "Delay")
        self.fill("Milliseconds", "5, 70")
        self.fill("Probability", "0.5")
        self.fill("First request", "4")
        self.click("Save rule")
        self.until(lambda: self.row(2) == ["2", "Delay", "5 to 70 ms", "all", "all", "from 4, probability 0.5", "0", "0"], "the second rule")
        self.click("Edit rule 1")
        self.assertEqual(self.control("Tables").get_attribute("value"), "Orders, Others")
        self.assertEqual(self.control("Exception").get_attribute("value"), "ThrottlingException")
        self.choose("Fault", "Internal error")
        self.click("The operation runs, and only its response is lost")
        self.click("Save rule")
        delay = {"fault": "delay", "ms": [5, 70], "probability": 0.5, "first": 4}
        self.until(lambda: self.rules() == [{"fault": "internal_error", "applied": True, "tables": ["Orders", "Others"],
                                             "operations": ["PutItem"], "last": 2}, delay])
        self.check_accessibility("test-mode")
        self.check_tab_order(10)
        self.click("Delete rule 1")
        self.until(lambda: self.rules() == [delay])
        self.until(lambda: self.row(1)[1] == "Delay")
        self.clear()
        self.assertEqual(self.rules(), [])

    def test_each_fault_has_its_members(self):
        self.clear()
        added = (("Lag of reads", {"Milliseconds": "5"}, {"fault": "read_lag", "ms": 5}),
                 ("Lag of global indexes", {"Milliseconds": "6"}, {"fault": "index_lag", "ms": 6}),
                 ("Tables stay CREATING", {"Milliseconds": "7"}, {"fault": "creating", "ms": 7}),
                 ("Provisioned throughput", {"Seconds for which unused units are kept": "8"},
                  {"fault": "provisioned_throughput", "burst_seconds": 8}))
        for fault, fields, _ in added:
            self.click("Add rule")
            self.choose("Fault", fault)
            for label, text in fields.items():
                self.fill(label, text)
            shown = [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, "dialog label") if e.is_displayed()]
            self.assertEqual(shown, ["Fault", "Tables", *fields])
            self.click("Save rule")
            self.no_longer("dialog")
        self.assertEqual(self.rules(), [rule for _, _, rule in added])

    def test_a_wrong_rule_shows_the_error_of_the_server(self):
        self.clear()
        self.click("Add rule")
        self.choose("Fault", "Throttling")
        self.fill("Operations", "Put")
        self.click("Save rule")
        self.see("rules[0].operations: 'Put' is not an operation", "dialog [role=alert]")
        self.fill("Operations", "")
        self.fill("First request", "x")
        self.click("Save rule")
        self.see("first request 'x' is not a whole number", "dialog [role=alert]")
        self.click("Cancel")
        self.assertEqual(self.rules(), [])

    def test_rules_of_another_client_are_not_overwritten(self):
        self.clear()
        self.click("Add rule")
        theirs = {"fault": "read_lag", "ms": 9, "tables": [MARKUP]}
        self.rules(theirs)
        self.until(lambda: self.browser.execute_script("return document.querySelector('main').textContent").count(MARKUP))
        self.click("Save rule")
        self.see("the rules were changed by another client", "dialog [role=alert]")
        self.click("Cancel")
        self.assertEqual(self.rules(), [theirs])

    def test_rules_are_edited_as_json(self):
        self.clear()
        self.click("Edit as JSON")
        rule = {"fault": "throttling", "probability": 0.25}
        self.fill("Rules", json.dumps({"seed": 12, "rules": [rule]}))
        self.click("Save rules")
        self.see("Seed 12")
        self.see("14 operations")
        self.assertEqual(self.rules()[0]["probability"], 0.25)
        self.click("Edit as JSON")
        self.assertEqual(json.loads(self.control("Rules").get_attribute("value"))["rules"], self.rules())
        self.fill("Rules", '{"rules": [{"fault": "fire"}]}')
        self.click("Save rules")
        self.see("rules[0].fault: expected one of", "dialog [role=alert]")
        self.click("Cancel")
        self.assertEqual(self.rules()[0]["probability"], 0.25)


class Off(harness.ConsoleTest):
    def test_the_page_is_hidden(self):
        self.open()
        self.see("There are no tables yet")
        self.assertEqual([link.text for link in self.all("nav a")][-1], "Server")
        self.open("#/test-mode")
        self.see("Test mode is off")
        self.assertEqual(self.all("main button"), [])
        self.check_accessibility("test-mode-off")


class Signed(harness.ConsoleTest):
    """With credentials the page signs its requests. A key with a policy needs an action for each of the two."""

    @classmethod
    def setUpClass(cls):
        directory = harness.pathlib.Path(harness.tempfile.mkdtemp())
        cls.addClassCleanup(harness.shutil.rmtree, directory)
        statement = {"Effect": "Allow", "Action": ["dynamodb:ListTables", "stator:GetTestMode"], "Resource": "*"}
        (directory / "reads.json").write_text(json.dumps({"Version": "2012-10-17", "Statement": statement}))
        path = directory / "credentials"
        path.write_text("".join(f"[{user}]\naws_access_key_id = AKID{user.upper()}\naws_secret_access_key = secret/word+1\n{more}\n"
                                for user, more in (("ann", ""), ("bob", "policy = reads.json"))))
        cls.arguments = ("--credentials", str(path), "--test-mode", '{"rules": [{"fault": "creating", "ms": 5}]}')
        super().setUpClass()

    def sign_in(self, key):
        self.open("#/test-mode")
        self.see("This server requires signatures", "dialog")
        self.fill("Access key ID", key)
        self.fill("Secret access key", "secret/word+1")
        self.click("Use this key")
        self.see("Tables stay CREATING", "main table")

    def test_the_page_signs_its_requests(self):
        self.sign_in("AKIDANN")
        self.click("Edit rule 1")
        self.fill("Milliseconds", "6")
        self.click("Save rule")
        self.see("6 ms", "main table")

    def test_a_policy_decides_who_changes_the_rules(self):
        self.sign_in("AKIDBOB")
        self.click("Delete rule 1")
        self.see("user/bob is not authorized to perform: stator:PutTestMode", "#alerts")
        self.see("Tables stay CREATING", "main table")


if __name__ == "__main__":
    unittest.main(verbosity=2)
