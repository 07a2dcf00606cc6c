# SPDX-License-Identifier: Apache-2.0
"""PartiQL: the editor with its completion, marked errors, history, and results."""

import unittest
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import harness


class Partiql(harness.ConsoleTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.create("Albums", "title", attributes=[{"AttributeName": "label", "AttributeType": "S"}],
                          GlobalSecondaryIndexes=[{"IndexName": "ByLabel", "KeySchema": [{"AttributeName": "label", "KeyType": "HASH"}],
                                                   "Projection": {"ProjectionType": "ALL"}}])
        cls.server.create("Another-table")
        for i in range(250):
            cls.server.put("Albums", pk={"S": "a"}, title={"S": f"{i:03}"}, label={"S": "x"}, released={"N": str(1900 + i)})

    def text(self):
        return self.control("Statement").get_attribute("value")

    def write(self, statement):
        control = self.control("Statement")
        control.send_keys(Keys.CONTROL, "a")
        control.send_keys(Keys.DELETE)
        control.send_keys(statement)
        control.send_keys(Keys.ESCAPE)
        self.until(lambda: self.text() == statement, statement)

    def options(self):
        return [o.text.split("\n")[0] for o in self.all("[role=option]")]

    def marked(self):
        return "".join(e.text for e in self.browser.find_elements(By.CSS_SELECTOR, ".editor .wrong"))

    def test_a_statement_is_completed_run_and_paged_by_keyboard(self):
        self.open("#/partiql")
        self.until(lambda: self.control("Statement") == self.browser.switch_to.active_element)
        self.until(lambda: (self.chord(Keys.CONTROL, " "), self.options())[1] == ["Albums", "Another-table"])
        self.keys(Keys.ARROW_DOWN, Keys.ENTER)
        self.until(lambda: self.text() == 'SELECT * FROM "Another-table"')
        self.write("SELECT * FROM ")
        self.keys("Alb")
        self.until(lambda: self.options() == ["Albums"])
        self.check_accessibility("partiql-completion")
        self.keys(Keys.TAB)
        self.until(lambda: self.text() == "SELECT * FROM Albums")
        self.keys(".")
        self.until(lambda: self.options() == ["ByLabel"])
        self.keys(Keys.ESCAPE, Keys.BACKSPACE, " WHERE pk = 'a' AND rele")
        self.until(lambda: "released" in self.options())
        self.keys(Keys.ENTER)
        self.until(lambda: self.text().endswith("AND released"))
        self.keys(" >= 1950")
        self.chord(Keys.CONTROL, Keys.ENTER)
        self.see("50 items", ".result")
        self.see("capacity unit", ".result")
        self.click("Next page")
        self.see("page 2", ".result")
        self.see_rows(100)
        self.click("Edit item 1 as JSON")
        self.until(lambda: "released" in self.control("Item as JSON").get_attribute("value"))
        self.click("Cancel")
        self.check_accessibility("partiql")
        self.check_tab_order(12)
        self.assertIn(urllib.parse.quote_plus("released >= 1950"), self.browser.current_url)

    def test_errors_are_marked_at_their_position(self):
        self.open("#/partiql")
        for statement, marked, message in (
                ("SELECT * FORM Albums", "FORM", "Line 1, column 10: ValidationException: Statement wasn't well formed"),
                ("SELECT * FROM Albums\nWHERE pk = 'a", "'a", "Line 2, column 12"),
                ("SELECT * FROM Albums WHERE pk ~ 1", "~", "column 31"),
                ("SELECT * FROM Albums WHERE (pk = 'a'", "(", "column 28"),
                ("SELECT * FROM Albums WHERE pk = AND title = 'x'", "AND", "column 33"),
                ("SELEC * FROM Albums", "SELEC", "column 1"),
                ("SELECT * FROM Absent WHERE pk = 'a'", "Absent", "ResourceNotFoundException"),
                ("SELECT * FROM 'Albums'", "'Albums'", "column 15"),
                ("SELECT * FROM Albums.Nope WHERE pk = 'a'", "Nope", "column 22"),
                ("SELECT * FROM Albums WHERE pk = 'a' AND nosuch(title)", "nosuch", "column 41")):
            with self.subTest(statement=statement):
                self.write(statement)
                self.click("Run")
                self.see(message, "[role=alert]")
                self.until(lambda: self.marked() == marked, f"{marked!r} to be marked, not {self.marked()!r}")  # pylint: disable=cell-var-from-loop
        self.check_accessibility("partiql-error")
        self.write("SELECT * FROM Albums WHERE pk = 'none'")
        self.assertEqual(self.marked(), "")

    def test_statements_write_and_are_remembered(self):
        self.open("#/partiql")
        insert = "INSERT INTO Albums VALUE {'pk': 'new', 'title': 'it''s', 'html': '" + harness.MARKUP.replace("'", "''") + "'}"
        self.write(insert)
        self.click("Run")
        self.see("returned no items")
        self.write("SELECT * FROM Albums WHERE pk = 'new'")
        self.click("Run")
        self.see_rows(1)
        self.assertIn(harness.MARKUP, self.cells()[0])
        self.browser.refresh()
        self.one(".history button")
        self.assertEqual([b.text for b in self.all(".history button")][:2], ["SELECT * FROM Albums WHERE pk = 'new'", insert])
        self.all(".history button")[1].click()
        self.until(lambda: self.text() == insert)
        self.click("Run")
        self.see("DuplicateItemException", "[role=alert]")
        self.click("Show as")
        self.see("aws dynamodb execute-statement", "dialog pre")
        self.click("Close")
        self.click("Clear history")
        self.see("Statements that you run appear here")

    def test_results_with_their_key_are_edited_and_deleted(self):
        for i in range(5):
            self.server.put("Another-table", pk={"S": f"e{i}"}, note={"S": "old"}, deep={"M": {"note": {"S": "inner"}}})
        note = lambda pk: self.server.call("GetItem", TableName="Another-table", Key={"pk": {"S": pk}}).get("Item", {}).get("note", {}).get("S")
        self.open("#/partiql")
        self.write("SELECT pk, note FROM \"Another-table\" WHERE pk IN ['e0', 'e1', 'e2', 'e3', 'e4']")
        self.click("Run")
        self.see_rows(5)
        cell = lambda pk: next(r for r in self.all(".grid tbody tr") if r.find_element(By.CSS_SELECTOR, "[data-name=pk]").get_attribute("data-text") == pk)
        harness.ActionChains(self.browser).double_click(cell("e0").find_element(By.CSS_SELECTOR, "[data-name=note]")).perform()
        self.fill("Value of note", "in place")
        self.keys(Keys.ENTER)
        self.until(lambda: note("e0") == "in place")
        cell("e1").find_element(By.CSS_SELECTOR, ".row-tools button").click()
        item = self.control("Item as JSON")
        self.assertIn("inner", item.get_attribute("value"))  # the whole item, though the statement returns a part
        text = item.get_attribute("value").replace("old", "as a whole")
        item.clear()
        item.send_keys(text)
        self.click("Save item")
        self.see("The item is saved.")
        self.assertEqual(note("e1"), "as a whole")
        self.until(lambda: ["e1", "as a whole"] in self.cells())
        self.server.put("Another-table", pk={"S": "e2"}, note={"S": "theirs"})
        harness.ActionChains(self.browser).double_click(cell("e2").find_element(By.CSS_SELECTOR, "[data-name=note]")).perform()
        self.fill("Value of note", "mine")
        self.keys(Keys.ENTER)
        self.see("the item was changed or deleted since it was read")
        self.assertEqual(note("e2"), "theirs")
        self.keys(Keys.ESCAPE)
        for pk in ("e3", "e4"):
            cell(pk).find_element(By.CSS_SELECTOR, "input[type=checkbox]").click()
        self.check_accessibility("partiql-selected")
        self.click("Delete selected (2)")
        self.click("Delete")
        self.see_rows(3)
        self.assertEqual([note(pk) for pk in ("e3", "e4")], [None, None])

    def test_results_that_cannot_be_written_back_are_only_viewed(self):
        self.server.put("Another-table", pk={"S": "v"}, note={"S": "n"}, deep={"M": {"note": {"S": "inner"}}})
        self.open("#/partiql")
        for columns in ("note", "pk, deep.note"):
            with self.subTest(columns=columns):
                self.write(f"SELECT {columns} FROM \"Another-table\" WHERE pk = 'v'")
                self.click("Run")
                self.see_rows(1)
                self.named("View item 1 as JSON", "button")
                self.assertEqual(self.all(".grid input[type=checkbox]"), [])
                self.assertNotIn("Delete selected", [b.text for b in self.all("button")])

    def test_parameters_replace_question_marks(self):
        self.open("#/partiql")
        self.write("SELECT * FROM Albums WHERE pk = ? AND title = ?")
        self.fill("Parameters", '[{"S": "a"}, {"S": "007"}]')
        self.click("Run")
        self.see_rows(1)
        self.browser.refresh()
        self.until(lambda: self.control("Parameters").get_attribute("value") == '[{"S": "a"}, {"S": "007"}]')
        self.fill("Parameters", '[{"S": 1}]')
        self.click("Run")
        self.see("parameters: [0]: expected text in S", "[role=alert]")

    def test_a_link_does_not_run_its_statement(self):
        self.open("#/partiql?" + urllib.parse.urlencode({"statement": "DELETE FROM Albums WHERE pk = 'a' AND title = '000'"}))
        self.until(lambda: self.text().startswith("DELETE"))
        self.one(".history")
        self.assertIn("Item", self.server.call("GetItem", TableName="Albums", Key={"pk": {"S": "a"}, "title": {"S": "000"}}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
