# SPDX-License-Identifier: Apache-2.0
"""The pictures in the documentation: docs/images/console.png is a copy of screenshots/readme.png, and
docs/images/sensor.png of screenshots/sensor.png."""

import unittest

import harness

ORDERS = [
    {"at": "2024-05-0%d" % (day + 1), "city": city, "price": price, "open": day > 4, "lines": lines}
    for day, (city, price, lines) in enumerate([
        ("Lisbon", "12.50", ["tea"]), ("Oslo", "8", ["cups", "tea"]), ("Lisbon", "119.90", ["kettle"]),
        ("Rome", "3.25", ["spoon"]), ("Oslo", "42", ["pot", "lid"]), ("Rome", "17.75", ["beans"]),
        ("Lisbon", "64", ["grinder"]), ("Bern", "9.80", ["filter", "cups"])])]


class Picture(harness.ConsoleTest):
    def test_a_query_of_orders(self):
        self.server.create("Orders", "at")
        for order in ORDERS:
            self.server.put("Orders", pk={"S": "ann"}, at={"S": order["at"]}, city={"S": order["city"]},
                            price={"N": order["price"]}, open={"BOOL": order["open"]},
                            lines={"L": [{"S": line} for line in order["lines"]]})
        self.open("#/tables/Orders/items")
        self.see_rows(len(ORDERS))
        self.choose("Operation", "Query")
        self.fill("Value of pk", "ann")
        self.choose("Order", "Descending")
        self.click("Run")
        self.see("8 items", ".result")
        self.browser.execute_script("window.scrollTo(0, 0); document.activeElement.blur()")
        self.screenshot("readme")

    def test_a_day_of_a_sensor(self):
        weather = str(harness.HERE.parent.parent / "examples" / "data" / "seattle-weather-hourly-normals.csv")
        for sensor, unit in (("temperature", "C"), ("pressure", "hPa")):
            self.server.stator("sensor", "add", sensor, "--city", "Seattle", "--building", "Airport", "--floor", "1", "--room", "Station")
            self.server.stator("sensor", "import", sensor, weather, "--value", sensor, "--unit", unit)
        self.open("#/recipes/sensors/Sensors?sensor=temperature&from=2010-07-15T00:00:00")
        self.see("24 readings")
        self.until(lambda: self.browser.find_elements("css selector", "path.line.c0[d^=M]"))
        self.browser.set_window_size(1280, 1000)
        harness.ActionChains(self.browser).move_to_element(self.one(".plotbox")).perform()
        self.see("2010-07-15 11:00:00 UTC", ".when")
        self.screenshot("sensor")


if __name__ == "__main__":
    unittest.main(verbosity=2)
