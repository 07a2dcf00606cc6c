# SPDX-License-Identifier: Apache-2.0
"""Items: the builder, the grid, edits, files, and code in other languages."""

import concurrent.futures
import http.client
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import harness

BIG = "12345678901234567890123456789012345678"
ITEMS = int(os.environ.get("STATOR_CONSOLE_ITEMS", "100000"))


class Items(harness.ConsoleTest):
    def setUp(self):
        self.table = "T" + self.id().rsplit(".", 1)[-1][:60]

    def create(self, count=0, **more):
        self.server.create(self.table, "sk", sort_type="N", attributes=[{"AttributeName": "city", "AttributeType": "S"}],
                           GlobalSecondaryIndexes=[{"IndexName": "ByCity", "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"},
                                                                                         {"AttributeName": "sk", "KeyType": "RANGE"}],
                                                    "Projection": {"ProjectionType": "KEYS_ONLY"}}], **more)
        for begin in range(0, count, 25):
            self.server.call("BatchWriteItem", RequestItems={self.table: [
                {"PutRequest": {"Item": self.item(i)}} for i in range(begin, min(begin + 25, count))]})

    @staticmethod
    def item(i):
        return {"pk": {"S": "a" if i % 2 == 0 else "b"}, "sk": {"N": str(i)}, "city": {"S": ["Oslo", "Rome", "Bern"][i % 3]},
                "info": {"M": {"tags": {"L": [{"S": f"t{i}"}]}}}, "even": {"BOOL": i % 2 == 0}}

    def get(self, pk, sk):
        return self.server.call("GetItem", TableName=self.table, Key={"pk": {"S": pk}, "sk": {"N": str(sk)}}).get("Item")

    def show(self, state=None):
        query = "?" + urllib.parse.urlencode({"q": json.dumps(state)}) if state else ""
        self.open(f"#/tables/{self.table}/items{query}")
        self.one("form[role=search]")

    def column(self, name):
        return self.browser.execute_script(
            "return [...document.querySelectorAll('.grid td[data-name]')].filter((c) => c.dataset.name === arguments[0]).map((c) => c.dataset.text ?? null)", name)

    def see_column(self, name, values):
        self.until(lambda: self.column(name) == [str(v) for v in values], f"{name} to be {values}")

    def run_query(self):
        self.click("Run")

    def test_a_query_has_conditions_order_and_pages(self):
        self.create(40)
        self.show()
        self.see_rows(40)
        self.choose("Operation", "Query")
        self.fill("Value of pk", "a")
        self.fill("Items per page", "5")
        self.choose("Order", "Descending")
        self.run_query()
        self.see_column("sk", [38, 36, 34, 32, 30])
        self.see("5 items · ", ".result")
        self.see("capacity unit", ".result")
        self.see(" ms", ".result")
        self.click("Next page")
        self.see_column("sk", [28, 26, 24, 22, 20])
        self.click("Next page")
        self.see_column("sk", [18, 16, 14, 12, 10])
        self.click("Previous page")
        self.see_column("sk", [28, 26, 24, 22, 20])
        # The address holds the view: it survives a reload, and another window shows the same.
        address = self.browser.current_url
        self.browser.refresh()
        self.see_column("sk", [28, 26, 24, 22, 20])
        self.click("Previous page")
        self.see_column("sk", [38, 36, 34, 32, 30])
        self.browser.get("about:blank")
        self.browser.get(address)
        self.see_column("sk", [28, 26, 24, 22, 20])
        self.click("First page")
        self.see_column("sk", [38, 36, 34, 32, 30])
        self.browser.back()
        self.see_column("sk", [28, 26, 24, 22, 20])
        for operator, first, second, expected in (("=", 4, None, [4]), ("<", 4, None, [0, 2]), ("≤", 4, None, [0, 2, 4]), (">", 34, None, [36, 38]),
                                                  ("≥", 34, None, [34, 36, 38]), ("between", 4, 8, [4, 6, 8])):
            self.choose("Order", "Ascending")
            self.choose("Condition on sk", operator)
            self.fill("Value of sk", str(first))
            if second:
                self.fill("End of the range of sk", str(second))
            self.run_query()
            self.see_column("sk", expected)
        self.check_accessibility("items-query")
        self.check_tab_order(20)

    def test_an_index_shows_its_projection_and_opens_whole_items(self):
        self.create(9)
        self.show()
        self.choose("Source", "ByCity: city (partition), sk (sort), keys only")
        self.choose("Operation", "Query")
        self.fill("Value of city", "Rome")
        self.run_query()
        self.see_column("sk", [1, 4, 7])
        self.assertEqual(self.column("info"), [])
        self.click("Edit item 2 as JSON")
        self.until(lambda: "t4" in self.control("Item as JSON").get_attribute("value"))

    def test_filters_have_every_operator(self):
        self.create()
        for sk, item in enumerate(({"v": {"N": "5"}, "s": {"S": "alpha"}}, {"v": {"N": "10"}, "s": {"S": "beta"}, "l": {"L": [{"N": "1"}, {"N": "2"}]}},
                                   {"v": {"S": "text"}, "s": {"S": "alphabet"}, "m": {"M": {"x.y": {"NULL": True}}}},
                                   {"s": {"S": "x,y"}, "set": {"SS": ["red", "blue"]}, "b": {"B": "AQI="}, "t": {"BOOL": True}})):
            self.server.put(self.table, pk={"S": "p"}, sk={"N": str(sk)}, **item)
        for path, operator, kind, first, second, expected in (
                ("v", "=", "Number", "5.0", None, [0]), ("v", "≠", "Number", "5", None, [1, 2, 3]), ("v", "<", "Number", "10", None, [0]),
                ("v", "≤", "Number", "10", None, [0, 1]), ("v", ">", "Number", "5", None, [1]), ("v", "≥", "Number", "5", None, [0, 1]),
                ("v", "between", "Number", "6", "11", [1]), ("s", "is one of", "String", 'beta, "x,y"', None, [1, 3]),
                ("s", "begins with", "String", "alpha", None, [0, 2]), ("set", "contains", "String", "red", None, [3]), ("l", "exists", None, None, None, [1]),
                ("v", "does not exist", None, None, None, [3]), ("v", "has the type", None, "String", None, [2]), ("s", "size ≥", None, "8", None, [2]),
                ("l", "size =", None, "2", None, [1]), ("l[1]", "=", "Number", "2", None, [1]), ('m."x.y"', "=", "Null", None, None, [2]),
                ("b", "=", "Binary", "AQI=", None, [3]), ("t", "=", "Boolean", "true", None, [3]),
                ("l", "=", "DynamoDB JSON", '{"L": [{"N": "1"}, {"N": "2"}]}', None, [1])):
            with self.subTest(path=path, operator=operator):
                self.show({"op": "Scan", "project": "zzz"})
                self.click("Add filter")
                self.fill("Attribute of filter 1", path)
                self.choose("Operator of filter 1", operator)
                if kind:
                    self.choose("Type of filter 1", kind)
                if operator == "has the type":
                    self.choose("Type to find with filter 1", first)
                elif first:
                    self.fill("Value of filter 1", first)
                if second:
                    self.fill("End of the range of filter 1", second)
                self.fill("Attributes to return, separated by commas", "s")
                self.run_query()
                self.see_column("sk", expected)
                self.click("Negate filter 1")
                self.run_query()
                self.see_column("sk", [i for i in range(4) if i not in expected])
        self.show({"op": "Scan", "any": True, "rules": [{"path": "v", "op": "=", "type": "N", "a": "5"}, {"path": "l", "op": "exists", "type": "S"}]})
        self.see_column("sk", [0, 1])
        self.choose("Combination of filters", "All filters match")
        self.run_query()
        self.see("No items match", ".empty")
        self.click("Remove filter 2")
        self.run_query()
        self.see_column("sk", [0])
        self.fill("Attribute of filter 1", "a..b")
        self.run_query()
        self.see("is not an attribute path", "[role=alert]")

    def test_a_page_without_matches_can_be_continued(self):
        self.create(30)
        self.show({"op": "Scan", "limit": 10, "rules": [{"path": "sk", "op": "=", "type": "N", "a": "29"}]})
        self.see("10 examined", ".result")
        for _ in range(4):
            if self.column("sk") == ["29"]:
                break
            self.click("Next page")
            self.until(lambda: self.named("First page", "button"))
        self.see_column("sk", [29])

    def test_items_are_added_duplicated_edited_and_deleted_as_json(self):
        self.create()
        self.show()
        self.see("There are no items", ".empty")
        self.click("Add item")
        self.fill("Item as JSON", json.dumps({"pk": {"S": "x"}, "sk": {"N": BIG}, "tags": {"SS": ["a", "b"]}, "raw": {"B": "AQI="}}))
        self.click("Save item")
        self.see("The item is added")
        self.see_column("sk", [BIG])
        self.check_accessibility("items-one")
        self.click("Edit item 1 as JSON")
        self.click("Plain JSON")
        text = self.control("Item as JSON")
        self.until(lambda: f'"sk": {BIG}' in text.get_attribute("value"))
        self.check_accessibility("item-editor")
        self.fill("Item as JSON", f'{{"pk": "x", "sk": {BIG}, "tags": ["a", "c"], "raw": "AQI=", "deep": {{"list": [1.50, null, true]}}}}')
        self.click("Save item")
        self.see("The item is saved")
        self.assertEqual(self.get("x", BIG), {"pk": {"S": "x"}, "sk": {"N": BIG}, "tags": {"SS": ["a", "c"]}, "raw": {"B": "AQI="},
                                              "deep": {"M": {"list": {"L": [{"N": "1.5"}, {"NULL": True}, {"BOOL": True}]}}}})
        self.click("Select item 1")
        self.click("Duplicate")
        self.click("Save item")
        self.see("an item with this key exists", "dialog [role=alert]")
        text = self.control("Item as JSON").get_attribute("value").replace(BIG, "7")
        self.fill("Item as JSON", text)
        self.click("Save item")
        self.see_rows(2)
        self.click("Select all items of the page")
        self.click("Delete selected (2)")
        self.click("Delete")
        self.see("2 items deleted")
        self.see("There are no items", ".empty")

    def test_mistakes_in_json_are_marked(self):
        self.create()
        self.show()
        self.click("Add item")
        for text, message in (('{"pk": {"S": "x"},\n "sk": }', "line 2, column 8: unexpected '}'"), ('{"pk": {"Q": "x"}}', "pk: 'Q' is not a type"),
                              ('{"pk": {"S": "x"}}', "ValidationException")):
            self.fill("Item as JSON", text)
            self.click("Save item")
            self.see(message, "dialog [role=alert]")

    def test_a_change_by_others_is_not_overwritten(self):
        self.create(1)
        self.show()
        self.click("Edit item 1 as JSON")
        self.until(lambda: "t0" in self.control("Item as JSON").get_attribute("value"))
        self.server.put(self.table, **{**self.item(0), "even": {"S": "theirs"}})
        self.click("Save item")
        self.see("the item was changed or deleted since it was read", "dialog [role=alert]")
        self.assertEqual(self.get("a", 0)["even"], {"S": "theirs"})

    def test_cells_are_edited_in_place_by_keyboard(self):
        self.create(3)
        self.show()
        self.see_rows(3)
        self.browser.execute_script("document.querySelector('.grid td[tabindex=\"0\"]').focus()")
        self.keys(Keys.HOME)
        focused = lambda: self.browser.execute_script("return document.activeElement.dataset.name")
        for _ in range(10):
            if focused() == "city":
                break
            self.keys(Keys.ARROW_RIGHT)
        self.assertEqual(focused(), "city")
        self.keys(Keys.ARROW_DOWN, Keys.ENTER)
        self.until(lambda: self.control("Value of city") == self.browser.switch_to.active_element)
        before = self.column("sk")
        self.keys(harness.MARKUP, Keys.ENTER)
        self.until(lambda: harness.MARKUP in self.column("city"))
        self.assertEqual(focused(), "city")
        pk, sk = self.column("pk")[1], before[1]
        self.assertEqual(self.get(pk, sk)["city"], {"S": harness.MARKUP})
        self.keys(Keys.ENTER)
        self.keys("discarded", Keys.ESCAPE)
        self.until(lambda: focused() == "city")
        self.assertEqual(self.get(pk, sk)["city"], {"S": harness.MARKUP})
        self.keys(Keys.ARROW_RIGHT, Keys.ENTER)
        self.fill("Value of even", "12.50")
        self.choose("Type of even", "Number")
        self.click("Save")
        self.until(lambda: self.get(pk, sk)["even"] == {"N": "12.5"})
        # Another writer's value is not overwritten.
        self.until(lambda: focused() == "even")
        self.keys(Keys.ARROW_LEFT)
        self.server.put(self.table, pk={"S": pk}, sk={"N": sk}, city={"S": "theirs"})
        self.keys(Keys.ENTER)
        self.fill("Value of city", "mine")
        self.keys(Keys.ENTER)
        self.see("changed or deleted since it was read", "#alerts")
        self.assertEqual(self.get(pk, sk)["city"], {"S": "theirs"})
        self.keys(Keys.ESCAPE)
        self.keys(Keys.SPACE)
        self.until(lambda: self.named("Delete selected (1)", "button"))

    def test_all_matching_items_are_deleted_after_confirmation(self):
        self.create(60)
        self.show({"op": "Query", "hash": ["a"], "limit": 7})
        self.see_rows(7)
        self.click("Delete all matching…")
        self.fill(f"Type {self.table} to confirm", self.table)
        self.click("Delete all matching")
        self.see("30 items deleted")
        self.assertEqual(self.server.call("Scan", TableName=self.table, Select="COUNT")["Count"], 30)

    def test_files_are_exported_and_imported(self):
        self.create(30)
        odd = {"pk": {"S": "a"}, "sk": {"N": BIG}, "text": {"S": 'x,"y"\r\n' + harness.MARKUP}, "set": {"NS": ["1", "2"]}, "none": {"NULL": True},
               "bin": {"B": "AQI="}, "even": {"S": "mixed"}}
        self.server.put(self.table, **odd)
        everything = sorted(self.server.call("Scan", TableName=self.table)["Items"], key=lambda i: i["sk"]["N"])
        for name, suffix in (("CSV", ".csv"), ("DynamoDB JSON, one item per line", ".jsonl")):
            self.show({"op": "Scan", "limit": 10})
            self.see_rows(10)
            self.click("Export")
            self.choose("Items", "All pages of this query")
            self.choose("Format", name)
            self.click("Export")
            self.see("31 items exported")
            text = self.downloaded(suffix)
            target = self.table[:40] + suffix[1:]
            self.server.create(target, "sk", sort_type="N")
            self.open(f"#/tables/{target}/items")
            file = harness.pathlib.Path(self.scratch, "import" + suffix)
            file.write_bytes(text.encode())
            self.click("Import")
            if suffix == ".csv":
                self.check_accessibility("import")
            self.control("File").send_keys(str(file))
            self.click("Import")
            self.see("31 items imported")
            items = sorted(self.server.call("Scan", TableName=target)["Items"], key=lambda i: i["sk"]["N"])
            if suffix == ".csv":
                for item in items:
                    item.get("set", {}).get("NS", []).sort()
            self.assertEqual(items, everything)
        self.show({"op": "Query", "hash": ["a"], "range": [{"op": "=", "a": BIG}]})
        self.see_rows(1)
        self.click("Select item 1")
        self.click("Export")
        self.click("Export")
        self.assertIn(f'"sk": {BIG}', self.downloaded(".json"))

    def test_a_file_with_mistakes_writes_nothing(self):
        self.create()
        self.show()
        for name, text, message in (("a.json", '[{"pk": "x"}]', "item 1 has no key attribute 'sk' of type N"), ("b.csv", "pk,sk\nx,y\n", "row 2: 'y' is not a number"),
                                    ("c.json", "nonsense", "unexpected 'n'")):
            file = harness.pathlib.Path(self.scratch, name)
            file.write_text(text)
            self.click("Import")
            self.control("File").send_keys(str(file))
            self.click("Import")
            self.see(message, "dialog [role=alert]")
            self.click("Cancel")
            self.no_longer("dialog")
        self.assertEqual(self.server.call("Scan", TableName=self.table)["Count"], 0)

    def test_code_in_other_languages_runs(self):
        self.create(12)
        self.server.put(self.table, pk={"S": "it's \"x\""}, sk={"N": "1"}, city={"S": "Oslo"})
        self.show({"op": "Query", "hash": ["it's \"x\""], "range": [{"op": "between", "a": "0", "b": "9"}], "desc": True,
                   "rules": [{"path": "city", "op": "in", "type": "S", "a": "Oslo,Rome"}]})
        self.see_rows(1)
        self.click("Show as")
        code = {}
        for language in ("AWS CLI", "boto3", "JavaScript", "Go", "C++", "PartiQL"):
            self.click(language)
            code[language] = self.one("dialog pre").text
        self.check_accessibility("show-as")
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
        output = subprocess.run(["sh", "-c", code["AWS CLI"] + " --output json"], env=environment, check=True, capture_output=True, timeout=120).stdout
        self.assertEqual(json.loads(output)["Items"][0]["city"], {"S": "Oslo"})
        output = subprocess.run(["/usr/bin/python3", "-c", code["boto3"]], env=environment, check=True, capture_output=True, text=True, timeout=120).stdout
        self.assertIn("'city': {'S': 'Oslo'}", output)
        with tempfile.NamedTemporaryFile("w", suffix=".mjs") as program:
            program.write(code["JavaScript"])
            program.flush()
            subprocess.run(["node", "--check", program.name], check=True, capture_output=True, timeout=120)
        answer = self.server.call("ExecuteStatement", Statement=code["PartiQL"])
        self.assertEqual(answer["Items"][0]["city"], {"S": "Oslo"})
        self.assertIn("client.Query(ctx, &dynamodb.QueryInput{", code["Go"])
        self.assertIn('client->call("Query"', code["C++"])
        include = harness.HERE.parent.parent / "include"
        subprocess.run(["g++", "-std=c++23", "-fsyntax-only", f"-I{include}", "-xc++", "-"], input=code["C++"].encode(), check=True, timeout=300)

    def test_an_index_with_keys_of_several_attributes_is_queried(self):
        names = ("pk", "a", "b", "x", "y")
        self.server.call("CreateTable", TableName=self.table, BillingMode="PAY_PER_REQUEST",
                         AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names],
                         KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                         GlobalSecondaryIndexes=[{"IndexName": "Several", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
                             {"AttributeName": n, "KeyType": k} for n, k in (("a", "HASH"), ("b", "HASH"), ("x", "RANGE"), ("y", "RANGE"))]}])
        for i in range(4):
            self.server.put(self.table, pk={"S": str(i)}, a={"S": "1"}, b={"S": "2"}, x={"S": str(i // 2)}, y={"S": str(i)})
        self.show({"op": "Query", "index": "Several"})
        self.see("Enter a key, and run the query")
        self.fill("Value of a", "1")
        self.run_query()
        self.see("enter a value of 'b'", "[role=alert]")
        self.fill("Value of b", "2")
        self.choose("Condition on x", "=")
        self.fill("Value of x", "1")
        self.choose("Condition on y", ">")
        self.fill("Value of y", "2")
        self.run_query()
        self.see_column("pk", [3])

    def test_everything_works_without_a_mouse(self):
        self.open("#/tables")
        self.tab_to("Create table")
        self.keys(Keys.ENTER)
        self.until(lambda: self.browser.switch_to.active_element == self.control("Table name"))
        self.keys(self.table, Keys.TAB, "id")
        self.tab_to("Create table")
        self.keys(Keys.ENTER)
        self.see(f"Table {self.table} is created")
        self.tab_to("Items")
        self.keys(Keys.ENTER)
        self.one("form[role=search]")
        for key in ("one", "two"):
            self.tab_to("Add item")
            self.keys(Keys.ENTER)
            self.until(lambda: self.browser.switch_to.active_element == self.control("Item as JSON"))
            self.chord(Keys.CONTROL, "a")
            self.keys('{"id": {"S": "' + key + '"}, "n": {"N": "1"}}')
            self.chord(Keys.CONTROL, Keys.ENTER)
            self.no_longer("dialog")
        self.see_rows(2)
        self.tab_to("Edit")
        self.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
        self.until(lambda: self.browser.switch_to.active_element == self.control("Value of n"))
        self.keys("2", Keys.ENTER)
        self.until(lambda: self.column("n")[0] == "2")
        self.chord(Keys.CONTROL, "a")
        self.named("Delete selected (2)", "button")
        self.tab_to("Delete selected (2)", backwards=True)
        self.keys(Keys.ENTER)
        self.one("dialog")
        self.tab_to("Delete")
        self.keys(Keys.ENTER)
        self.see("There are no items", ".empty")
        self.tab_to("Add item")
        self.keys(Keys.ENTER)
        self.one("dialog")
        self.keys(Keys.ESCAPE)
        self.no_longer("dialog")
        self.until(lambda: self.browser.switch_to.active_element.text == "Add item")

    def test_text_is_never_markup(self):
        name = harness.MARKUP
        self.server.call("CreateTable", TableName=self.table, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"}],
                         KeySchema=[{"AttributeName": name, "KeyType": "HASH"}])
        self.server.put(self.table, **{name: {"S": name}, "m": {"M": {name: {"L": [{"S": name}]}}}, "ss": {"SS": [name]}, name + "2": {"S": name}})
        self.show()
        self.see_rows(1)
        self.assertIn(name, self.one("thead").text)
        self.click("Edit item 1 as JSON")
        self.until(lambda: self.control("Item as JSON").get_attribute("value").count("onerror") == 7)
        self.click("Cancel")
        self.choose("Operation", "Query")
        self.fill("Value of " + name, name)
        self.run_query()
        self.see_rows(1)
        self.click("Show as")
        self.click("PartiQL")
        self.see("onerror", "dialog pre")
        self.click("Close")
        self.open("#/tables/" + urllib.parse.quote(name, safe="") + "/items")
        self.see("ValidationException", "[role=alert]")
        self.assertEqual(self.all("img[src=x]"), [])

    def fill_table(self, part, parts):
        """Writes a part of ITEMS items."""
        connection = http.client.HTTPConnection(self.server.url.split("//")[1], timeout=harness.WAIT_S)
        for batch in range(part, ITEMS // 25, parts):
            body = json.dumps({"RequestItems": {self.table: [
                {"PutRequest": {"Item": {"pk": {"S": str(batch)}, "sk": {"N": str(i)}}}} for i in range(25)]}})
            connection.request("POST", "/", body, harness.headers("BatchWriteItem"))
            response = connection.getresponse()
            response.read()
            assert response.status == 200
        connection.close()

    def test_many_items_take_few_requests(self):
        self.create(10)
        for large in (False, True):
            if large:
                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    list(pool.map(lambda part: self.fill_table(part, 4), range(4)))
            begin = time.monotonic()
            self.show({"op": "Scan", "limit": 10})
            self.see_rows(10)
            print(f"first page of {ITEMS + 10 if large else 10} items: {time.monotonic() - begin:.3f} s")
            requests = self.browser.execute_script(
                "return performance.getEntriesByType('resource').filter((e) => e.initiatorType === 'fetch').length")
            self.assertLess(requests, 10)
        self.open("#/tables")
        self.see(f"{ITEMS + 10:,}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
