# SPDX-License-Identifier: Apache-2.0
"""Sensors: found by location, with plots of readings and roll-ups, of tables that `stator sensor` fills."""

import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import harness

WEATHER = str(harness.HERE.parent.parent / "examples" / "data" / "seattle-weather-hourly-normals.csv")


class Sensors(harness.ConsoleTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sensor("add", "temperature", "--city", "Seattle", "--building", "Airport", "--floor", "1", "--room", "Station")
        cls.sensor("import", "temperature", WEATHER, "--value", "temperature", "--unit", "C")
        cls.sensor("summarize", "temperature", "--by", "day")

    @classmethod
    def sensor(cls, verb, *arguments):
        return cls.server.stator("sensor", verb, *arguments)

    def legend(self):
        return self.one(".legend").text

    def values(self):
        """The rows of the table below the plot."""
        if not self.all(".values[open]"):
            self.until(lambda: self.one(".values summary").click() or True)
        return self.until(lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('.values tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))") or False)

    def test_a_stranger_gets_to_the_plot_of_a_day(self):
        self.open()
        self.click("Recipes")
        self.click("Sensors")
        self.click("temperature")
        self.see("24 readings")
        self.see("Seattle / Airport / 1 / Station")
        self.see("4.3 C at 2010-12-31T23:00:00Z")
        rows = self.values()
        self.assertEqual(len(rows), 24)
        self.assertEqual(rows[0], ["2010-12-31 23:00:00 UTC", "4.3 C"])
        self.assertEqual(rows[-1], ["2010-12-31 00:00:00 UTC", "3.8 C"])

    def test_the_pointer_and_the_arrows_show_values(self):
        self.open("#/recipes/sensors/Sensors?sensor=temperature")
        self.see("24 readings")
        box = self.one(".plotbox")
        self.until(lambda: box.find_elements("css selector", "path.line.c0[d^=M]"))
        ActionChains(self.browser).move_to_element_with_offset(box, 0, 0).perform()
        self.see("2010-12-31 1", ".when")
        self.assertRegex(self.legend(), r"Readings in C\n?\s*[0-9.]+ C")
        self.browser.execute_script("arguments[0].focus()", box)
        self.keys(Keys.HOME)
        self.see("2010-12-31 00:00:00 UTC", ".when")
        self.assertIn("3.8 C", self.legend())
        self.keys(Keys.ARROW_RIGHT)
        self.see("2010-12-31 01:00:00 UTC", ".when")

    def test_days_are_stepped_through(self):
        self.open("#/recipes/sensors/Sensors?sensor=temperature")
        self.see("24 readings")
        self.click("Earlier")
        self.until(lambda: self.values()[0][0] == "2010-12-30 23:00:00 UTC")
        self.assertIn("from=2010-12-30", self.browser.current_url)
        self.browser.refresh()
        self.until(lambda: self.values()[0][0] == "2010-12-30 23:00:00 UTC")
        self.click("Later")
        self.until(lambda: self.values()[0][0] == "2010-12-31 23:00:00 UTC")
        self.click("Later")
        self.see("No readings in this time.")
        self.click("Latest")
        self.see("24 readings")

    def test_a_wrong_time_in_the_url_is_ignored(self):
        for time in ("x", "99999-01-01", "2010-13-01T00:00:00"):
            self.open(f"#/recipes/sensors/Sensors?sensor=temperature&span=hour&from={time}")
            self.see("1 reading")
            self.assertEqual(self.values()[0][0], "2010-12-31 23:00:00 UTC")

    def test_roll_ups_have_their_mean_and_their_range(self):
        self.open("#/recipes/sensors/Sensors?sensor=temperature")
        self.choose("Time", "7 days")
        self.choose("Resolution", "Days")
        self.see("7 roll-ups")
        rolled = self.sensor("rollups", "temperature", "--by", "day", "--from", "2010-12-31T00:00:00Z").split("\t")
        newest = self.values()[0]
        self.assertEqual(newest[0], "2010-12-31 00:00:00 UTC")
        self.assertIn(", 3.6 to 6.3, 24 readings", newest[1])
        self.assertIn("3.6", rolled)
        self.assertIn("6.3", rolled)
        self.until(lambda: self.browser.find_elements("css selector", ".band"))
        self.choose("Resolution", "Hours")
        self.see("No roll-ups in this time. stator sensor summarize makes them: --by hour.")

    def test_more_than_a_plot_holds_is_said(self):
        self.open("#/recipes/sensors/Sensors?sensor=temperature&span=year")
        self.see("5,000 readings: the first 5,000 of this time")

    def test_places_are_exactly_themselves(self):
        for layout, table in (([], "Indexed"), (["--layout", "location-items"], "Located")):
            for name, floor in (("one#1", "1"), ("ten%25", "10")):
                self.sensor("add", name, "--table", table, *layout, "--city", "A#2", "--building", harness.MARKUP, "--floor", floor, "--room", "%23")
            self.sensor("add", "far", "--table", table, *layout, "--city", "B", "--building", "b", "--floor", "f", "--room", "r")
            self.open(f"#/recipes/sensors/{table}")
            self.see("3 sensors")
            text = self.one(".tree").text
            for part in ("A#2 (2)", f"Building {harness.MARKUP} (2)", "Floor 1 (1)", "Floor 10 (1)", "Room %23 (1)", "one#1", "ten%25"):
                self.assertIn(part, text, table)
            self.fill("City", "A#2")
            self.keys(Keys.ENTER)
            self.see("2 sensors")
            self.assertNotIn("far", self.one(".tree").text)
            self.click("ten%25")
            self.see("No readings.")
            self.sensor("record", "ten%25", "--table", table, *layout, "12345678901234567890.123456789", "--unit", harness.MARKUP, "--at", "2024-05-01T12:00:00.123456789Z")
            self.browser.refresh()
            self.see(f"12345678901234567890.123456789 {harness.MARKUP} at 2024-05-01T12:00:00.123456789Z")
            self.assertEqual(self.values()[0][1], f"12345678901234567890.123456789 {harness.MARKUP}")

    def test_shards_of_a_city_are_read_together(self):
        for i in range(3):
            self.sensor("add", f"s{i}", "--table", "Sharded", "--city", "A", "--building", "b", "--floor", "f", "--room", "r")
        self.server.call("UpdateItem", TableName="Sharded", Key={"pk": {"S": "SENSOR##SETTINGS"}, "sk": {"S": "SETTINGS"}},
                         UpdateExpression="SET stator_settings.city_shards = :s", ExpressionAttributeValues={":s": {"M": {"A": {"M": {"count": {"N": "3"}}}}}})
        for i, shard in (("s1", "#1"), ("s2", "#2")):
            self.server.call("UpdateItem", TableName="Sharded", Key={"pk": {"S": f"SENSOR#{i}"}, "sk": {"S": "SENSORINFO"}},
                             UpdateExpression="SET gsi_pk = :c", ExpressionAttributeValues={":c": {"S": "CITY#A" + shard}})
        self.open("#/recipes/sensors/Sharded?city=A")
        self.until(lambda: self.all(".tree") and "A (" in self.one(".tree").text)
        while "Load more sensors" in [e.text for e in self.all("button")]:
            self.click("Load more sensors")
            self.until(lambda: not self.all("button:disabled"))
        self.see("A (3)", ".tree")
        self.see("3 sensors")

    def test_keys_of_several_attributes_are_read(self):
        names = ["city", "building", "floor", "room", "id"]
        self.server.call("CreateTable", TableName="Several", BillingMode="PAY_PER_REQUEST",
                         AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ["pk", "sk", *names]],
                         KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                         GlobalSecondaryIndexes=[{"IndexName": "ByLocation", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                                  "KeySchema": [{"AttributeName": n, "KeyType": "RANGE" if i else "HASH"} for i, n in enumerate(names)]}])
        for city in ("A#1", "B"):
            self.server.put("Several", pk={"S": "SENSOR#in " + city.replace("#", "%23")}, sk={"S": "SENSORINFO"}, city={"S": city}, building={"S": "b"},
                            floor={"S": "f"}, room={"S": "r"}, id={"S": "in " + city}, version={"N": "1"})
        self.server.put("Several", pk={"S": "OTHER#x"}, sk={"S": "X"}, city={"S": "B"}, building={"S": "b"}, floor={"S": "f"}, room={"S": "r"}, id={"S": "not ours"})
        self.open("#/recipes/sensors/Several")
        self.see("2 sensors")
        self.see("in A#1", ".tree")
        self.fill("City", "B")
        self.keys(Keys.ENTER)
        self.see("1 sensor")
        self.see("in B", ".tree")

    def test_a_sensor_that_is_gone_keeps_its_readings(self):
        self.sensor("add", "old", "--city", "Seattle", "--building", "Airport", "--floor", "1", "--room", "Cellar")
        self.sensor("record", "old", "1", "--at", "2024-05-01T12:00:00Z")
        self.sensor("decommission", "old")
        self.open("#/recipes/sensors/Sensors")
        self.see("1 sensor")
        self.assertNotIn("old", self.one(".tree").text)
        self.fill("Open a sensor", "old")
        self.keys(Keys.ENTER)
        self.see("decommissioned 20")
        self.see("1 reading", ".panel")

    def test_is_accessible(self):
        self.open("#/recipes")
        self.see("Places, readings and roll-ups.")
        self.check_accessibility("recipes")
        self.open("#/recipes/sensors/Sensors?sensor=temperature")
        self.see("24 readings")
        self.check_accessibility("sensors")
        self.check_tab_order(15)


if __name__ == "__main__":
    unittest.main(verbosity=2)
