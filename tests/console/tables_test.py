# SPDX-License-Identifier: Apache-2.0
"""Tables: list, create, change, delete."""

import unittest

from selenium.webdriver.common.by import By

import harness


class Tables(harness.ConsoleTest):
    def row(self, table):
        return self.until(lambda: self.browser.find_element(By.CSS_SELECTOR, f"tr[data-table='{table}']").text)

    def test_an_empty_server_invites_to_create_a_table(self):
        server, type(self).server = self.server, harness.Server()
        try:
            self.open()
            self.see("There are no tables yet")
            self.check_accessibility("tables-empty")
        finally:
            type(self).server.stop()
            type(self).server = server

    def test_the_list_shows_counts_settings_and_state(self):
        self.server.create("Albums", "title", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
                           DeletionProtectionEnabled=True)
        for i in range(12):
            self.server.put("Albums", pk={"S": "a"}, title={"S": str(i)})
        self.server.call("UpdateTimeToLive", TableName="Albums",
                         TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
        self.server.call("UpdateContinuousBackups", TableName="Albums",
                         PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        self.server.create("Plain")
        self.open()
        self.until(lambda: all(text in self.row("Albums") for text in ("active", "12", "new image", "expires")))
        self.assertEqual(self.row("Albums").count("on"), 2)
        self.until(lambda: self.row("Plain").count("off") == 4)
        self.check_accessibility("tables")
        self.check_tab_order(8)
        self.fill("Filter tables by name", "alb")
        self.until(lambda: len(self.all("tr[data-table]")) == 1)
        self.browser.refresh()
        self.until(lambda: len(self.all("tr[data-table]")) == 1)
        self.fill("Filter tables by name", "zzz")
        self.see("None of the")

    def test_more_tables_than_a_page_are_loaded_on_demand(self):
        for i in range(60):
            self.server.create(f"Many{i:02}")
        self.open()
        self.until(lambda: len(self.all("tr[data-table]")) == 50)
        self.click("Load more tables")
        self.until(lambda: len(self.all("tr[data-table]")) > 59)
        for i in range(60):
            self.server.call("DeleteTable", TableName=f"Many{i:02}")

    def test_a_table_is_created_with_keys_indexes_and_settings(self):
        self.open()
        self.click("Create table")
        self.fill("Table name", "Orders")
        self.fill("Partition key", "customer")
        self.fill("Sort key", "at")
        self.choose("Type of the sort key", "Number")
        self.click("Add a global index")
        self.fill("Index name", "ByState")
        index = self.one("fieldset")
        index.find_elements(By.CSS_SELECTOR, "input")[1].send_keys("state")
        self.choose("Projection", "Keys and these attributes")
        self.fill("Attributes, separated by commas", "total, note")
        self.choose("Stream", "New and old images")
        self.fill("TTL attribute", "until")
        self.choose("Table class", "Standard, infrequent access")
        self.choose("Encryption", "KMS key")
        self.fill("KMS key", "alias/orders")
        self.click("Point-in-time recovery")
        self.check_accessibility("create-table")
        self.check_tab_order(20)
        self.click("Create table")
        self.see("Table Orders is created")
        table = self.server.call("DescribeTable", TableName="Orders")["Table"]
        self.assertEqual(table["KeySchema"], [{"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}])
        self.assertIn({"AttributeName": "at", "AttributeType": "N"}, table["AttributeDefinitions"])
        self.assertEqual(table["GlobalSecondaryIndexes"][0]["Projection"],
                         {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total", "note"]})
        self.assertTrue(table["StreamSpecification"]["StreamEnabled"])
        self.assertEqual(table["TableClassSummary"]["TableClass"], "STANDARD_INFREQUENT_ACCESS")
        self.assertEqual([table["SSEDescription"][k] for k in ("Status", "SSEType")], ["ENABLED", "KMS"])
        self.assertIn("alias/orders", table["SSEDescription"]["KMSMasterKeyArn"])
        self.see("Turn TTL off")
        self.see("Turn recovery off")

    def test_an_invalid_table_shows_the_error_of_the_server(self):
        self.open("#/create")
        self.fill("Table name", "x")
        self.fill("Partition key", "pk")
        self.click("Create table")
        self.see("ValidationException", "[role=alert]")
        self.fill("Table name", "Longer")
        self.fill("Partition key", "")
        self.click("Create table")
        self.see("Partition key: enter a name", "[role=alert]")

    def test_settings_are_changed(self):
        self.server.create("Settings")
        self.open("#/tables/Settings/overview")
        self.choose("Billing", "Provisioned")
        self.fill("Read capacity units", "7")
        self.click("Save capacity")
        self.see("The capacity is saved")
        self.choose("Records contain", "Keys only")
        self.click("Save stream")
        self.see("The stream is saved")
        self.fill("TTL attribute", "gone")
        self.click("Turn TTL on")
        self.see("TTL is on")
        self.click("Turn recovery on")
        self.see("Point-in-time recovery is on")
        self.fill("Period in days", "9")
        self.click("Save period")
        self.see("The period is saved")
        recovery = self.server.call("DescribeContinuousBackups", TableName="Settings")["ContinuousBackupsDescription"]
        self.assertEqual(recovery["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"], 9)
        self.choose("Table class", "Standard, infrequent access")
        self.click("Save class")
        self.see("The class is saved")
        self.choose("Encryption", "KMS key")
        self.click("Save encryption")
        self.see("The encryption is saved")
        table = self.server.call("DescribeTable", TableName="Settings")["Table"]
        self.assertEqual(table["TableClassSummary"]["TableClass"], "STANDARD_INFREQUENT_ACCESS")
        self.assertEqual(table["SSEDescription"]["SSEType"], "KMS")
        self.until(lambda: self.one("select", self.named("Encryption", "select").find_element(By.XPATH, "..")).get_attribute("value") == "KMS")
        self.choose("Encryption", "Key owned by DynamoDB")
        self.click("Save encryption")
        self.until(lambda: self.server.call("DescribeTable", TableName="Settings")["Table"].get("SSEDescription", {}).get("Status") != "ENABLED")
        self.fill("Tag key", "team")
        self.fill("Tag value", "search")
        self.click("Add tag")
        self.see("search", "table")
        self.click("Deletion protection")
        self.see("turn protection off")
        table = self.server.call("DescribeTable", TableName="Settings")["Table"]
        self.assertEqual(table["ProvisionedThroughput"]["ReadCapacityUnits"], 7)
        self.assertEqual(table["StreamSpecification"]["StreamViewType"], "KEYS_ONLY")
        self.assertTrue(table["DeletionProtectionEnabled"])
        self.check_accessibility("overview")
        self.check_tab_order(18)

    def test_deletion_requires_the_name(self):
        self.server.create("Doomed")
        self.open("#/tables/Doomed/overview")
        self.click("Delete table…")
        typed = self.control("Type Doomed to confirm")
        submit = self.one("dialog button[type=submit]")
        self.assertFalse(submit.is_enabled())
        typed.send_keys("Doome")
        self.assertFalse(submit.is_enabled())
        typed.send_keys("d")
        self.assertTrue(submit.is_enabled())
        self.check_accessibility("delete-table")
        self.click("Delete table")
        self.see("Table Doomed is deleted")
        self.assertNotIn("Doomed", self.server.call("ListTables")["TableNames"])

    def test_capacity_of_an_index_is_changed(self):
        self.server.call("CreateTable", TableName="Capacity", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                         AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "x")],
                         KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], GlobalSecondaryIndexes=[
                             {"IndexName": "ByX", "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"},
                              "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}}])
        self.open("#/tables/Capacity/indexes")
        self.click("Change the capacity of ByX")
        self.fill("Read capacity units", "9")
        self.click("Save capacity")
        self.no_longer("dialog")
        index = self.server.call("DescribeTable", TableName="Capacity")["Table"]["GlobalSecondaryIndexes"][0]
        self.assertEqual([index["ProvisionedThroughput"][k] for k in ("ReadCapacityUnits", "WriteCapacityUnits")], [9, 4])

    def test_the_theme_is_chosen_and_kept(self):
        self.open()
        self.one("h1")
        background = lambda: self.browser.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
        first = background()
        self.click("Switch to the dark theme")
        self.until(lambda: background() != first)
        dark = background()
        self.browser.refresh()
        self.one("h1")
        self.assertEqual(background(), dark)
        self.click("Switch to the light theme")
        self.until(lambda: background() == first)

    def test_indexes_are_created_and_deleted(self):
        self.server.create("Indexed")
        self.open("#/tables/Indexed/indexes")
        self.see("The table has no indexes")
        self.assertNotIn("undefined", self.one("main").text)
        self.click("Create a global index")
        self.fill("Index name", "ByCity")
        self.fill("Partition key", "city")
        self.click("Create index")
        self.until(lambda: "active" in self.one("tbody tr").text)
        self.check_accessibility("indexes")
        self.click("Delete the index ByCity")
        self.fill("Type ByCity to confirm", "ByCity")
        self.click("Delete index")
        self.see("The table has no indexes")

    def test_vectors_are_searched(self):
        self.server.create("Texts", attributes=[{"AttributeName": "lang", "AttributeType": "S"}], VectorIndexes=[{
            "IndexName": "meaning", "VectorAttribute": {"AttributeName": "vector"}, "Dimensions": 2,
            "DistanceFunction": "EUCLIDEAN", "Projection": {"ProjectionType": "ALL"},
            "SearchSchema": [{"AttributeName": "lang", "SearchSchemaElementType": "HASH"}]}])
        for key, lang, x in (("near", "en", "1"), ("far", "en", "9"), ("other", "de", "1")):
            self.server.put("Texts", pk={"S": key}, lang={"S": lang}, note={"S": harness.MARKUP},
                            vector={"L": [{"N": x}, {"N": "0"}]})
        self.open("#/tables/Texts/indexes")
        self.see("lang (partition)")
        self.click("Search the vector index meaning")
        self.fill("Vector", "[1]")
        self.fill("lang", "en")
        self.click("Search")
        self.see("The vector has 1 numbers; the index has 2 dimensions")
        self.fill("Vector", "[1, 0]")
        self.click("Search")
        self.see("Nearest in meaning")
        rows = [row.text for row in self.all("dialog tbody tr")]
        self.assertEqual([row.split()[:2] for row in rows], [["0", "near"], ["8", "far"]])
        self.check_accessibility("vectors")
        self.click("Close")
        self.click("Delete the vector index meaning")
        self.fill("Type meaning to confirm", "meaning")
        self.click("Delete index")
        self.until(lambda: "lang (partition)" not in self.one("main").text)

    def fill_vector_index(self):
        self.fill("Index name", "meaning")
        self.fill("Vector attribute", "vector")
        self.fill("Dimensions", "2")
        self.choose("Distance", "Dot product")
        self.fill("Partition attribute", "lang")
        self.fill("Filter attribute", "year")
        self.choose("Type of the filter attribute", "Number")
        self.click("Add a filter attribute")
        self.fill("Filter attribute 2", "author")
        self.choose("Projection", "Keys and these attributes")
        self.fill("Attributes, separated by commas", "title")

    def check_vector_index(self, table):
        """The index of fill_vector_index()."""
        described = self.server.call("DescribeTable", TableName=table)["Table"]
        index = described["VectorIndexes"][0]
        self.assertEqual({name: index.get(name) for name in ("IndexName", "VectorAttribute", "Dimensions", "DistanceFunction", "Projection", "SearchSchema")}, {
            "IndexName": "meaning", "VectorAttribute": {"AttributeName": "vector"}, "Dimensions": 2, "DistanceFunction": "DOT_PRODUCT",
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]},
            "SearchSchema": [{"AttributeName": "lang", "SearchSchemaElementType": "HASH"},
                             {"AttributeName": "year", "SearchSchemaElementType": "INLINE_FILTER"},
                             {"AttributeName": "author", "SearchSchemaElementType": "INLINE_FILTER"}]})
        types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
        self.assertEqual([types[name] for name in ("lang", "year", "author")], ["S", "N", "S"])

    def test_a_table_with_a_vector_index_is_created(self):
        self.open("#/create")
        self.fill("Table name", "Articles")
        self.fill("Partition key", "pk")
        self.click("Add a vector index")
        self.fill_vector_index()
        self.check_accessibility("create-vectors")
        self.click("Create table")
        self.see("Table Articles is created")
        self.check_vector_index("Articles")

    def test_a_vector_index_is_added_and_deleted(self):
        self.server.create("Growing")
        self.server.put("Growing", pk={"S": "a"}, lang={"S": "en"}, vector={"L": [{"N": "3"}, {"N": "4"}]})
        self.open("#/tables/Growing/indexes")
        self.click("Create a vector index")
        self.fill_vector_index()
        self.fill("Dimensions", "many")
        self.click("Create index")
        self.see("dimensions 'many' is not a whole number", "dialog [role=alert]")
        self.fill("Dimensions", "5000")
        self.click("Create index")
        self.see("ValidationException", "dialog [role=alert]")
        self.fill("Dimensions", "2")
        self.check_accessibility("add-vectors")
        self.click("Create index")
        self.until(lambda: "active" in self.one("[aria-label='Vector indexes'] tbody tr").text)
        self.check_vector_index("Growing")
        self.check_accessibility("vector-indexes")
        self.click("Search the vector index meaning")
        self.fill("Vector", "[1, 1]")
        self.fill("lang", "en")
        self.click("Search")
        self.see("Nearest in meaning")
        self.see("7", "dialog tbody")
        self.click("Close")
        self.click("Delete the vector index meaning")
        self.fill("Type meaning to confirm", "meaning")
        self.click("Delete index")
        self.no_longer("[aria-label='Vector indexes']")
        self.until(lambda: not self.server.call("DescribeTable", TableName="Growing")["Table"].get("VectorIndexes"))

    def test_an_index_with_keys_of_several_attributes_is_created(self):
        self.server.create("Wide")
        self.open("#/tables/Wide/indexes")
        self.click("Create a global index")
        self.fill("Index name", "ByPlaceAndTime")
        keys = {"Partition key": ("city", "building", "floor", "room"), "Sort key": ("year", "month", "day", "hour")}
        for key, names in keys.items():
            self.fill(key, names[0])
            for i, name in enumerate(names[1:], 2):
                self.click(f"Add an attribute to the {key.lower()}")
                self.fill(f"{key} {i}", name)
        self.assertEqual([b.text for b in self.all("dialog button") if b.text.startswith("Add an attribute")], [])
        self.choose("Type of the partition key 3", "Number")
        self.choose("Type of the sort key", "Number")
        self.check_accessibility("index-keys")
        self.click("Create index")
        self.until(lambda: "active" in self.one("tbody tr").text)
        self.see("room (partition), year (sort)", "tbody tr")
        table = self.server.call("DescribeTable", TableName="Wide")["Table"]
        self.assertEqual([(k["AttributeName"], k["KeyType"]) for k in table["GlobalSecondaryIndexes"][0]["KeySchema"]],
                         [(name, "HASH") for name in keys["Partition key"]] + [(name, "RANGE") for name in keys["Sort key"]])
        types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
        self.assertEqual([types[name] for name in ("city", "floor", "year", "month")], ["S", "N", "N", "S"])

    def test_a_table_that_does_not_exist_shows_an_error(self):
        self.open("#/tables/Missing/overview")
        self.see("ResourceNotFoundException", "[role=alert]")
        self.click("All tables")
        self.one("h1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
