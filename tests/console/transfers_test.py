# SPDX-License-Identifier: Apache-2.0
"""Backups and restores, exports and imports."""

import datetime
import gzip
import json
import time
import unittest

import harness


class Transfers(harness.ConsoleTest):
    def items(self, table):
        return sorted((i["pk"]["S"] for i in self.server.call("Scan", TableName=table)["Items"]))

    def test_a_backup_is_created_restored_and_deleted(self):
        self.server.create("Source")
        self.server.put("Source", pk={"S": "kept"})
        self.open("#/tables/Source/backups")
        self.see("There are no backups")
        self.click("Create backup")
        self.fill("Name of the backup", "before-change")
        self.click("Create backup")
        self.see("available", "table")
        self.server.put("Source", pk={"S": "later"})
        self.click("Restore the backup before-change")
        self.fill("Name of the new table", "Restored")
        self.click("Restore")
        self.see("Table Restored is being restored")
        self.until(lambda: any("Restored" in row.text and "active" in row.text for row in self.all("tbody tr")))
        self.assertEqual(self.items("Restored"), ["kept"])
        self.check_accessibility("backups")
        self.check_tab_order(14)
        self.open("#/transfers")
        self.see("before-change", "table")
        self.check_accessibility("transfers")
        self.click("Delete the backup before-change")
        self.click("Delete backup")
        self.see("There are no backups")

    def test_a_table_is_restored_to_a_point_in_time(self):
        self.server.create("Past")
        self.open("#/tables/Past/backups")
        self.click("Turn it on in the overview.")
        self.click("Turn recovery on")
        self.see("Point-in-time recovery is on")
        self.server.put("Past", pk={"S": "early"})
        time.sleep(0.01)  # distinct milliseconds
        between = datetime.datetime.now()
        time.sleep(0.01)
        self.server.put("Past", pk={"S": "late"})
        self.click("Backups")
        self.click("Restore to a point in time")
        self.fill("Name of the new table", "PastThen")
        self.choose("State to restore", "This time")
        control = self.control("Time")
        self.browser.execute_script("arguments[0].value = arguments[1]", control, between.isoformat(timespec="milliseconds"))
        self.check_accessibility("restore-point")
        self.click("Restore")
        self.until(lambda: any("PastThen" in row.text and "active" in row.text for row in self.all("tbody tr")))
        self.assertEqual(self.items("PastThen"), ["early"])
        self.click("Restore to a point in time")
        self.fill("Name of the new table", "PastNow")
        self.click("Restore")
        self.until(lambda: any("PastNow" in row.text and "active" in row.text for row in self.all("tbody tr")))
        self.assertEqual(self.items("PastNow"), ["early", "late"])

    def test_a_table_is_exported(self):
        (self.server.buckets / "out").mkdir()
        self.server.create("Exported")
        self.server.call("UpdateContinuousBackups", TableName="Exported", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        for i in range(30):
            self.server.put("Exported", pk={"S": str(i)})
        self.open("#/tables/Exported/exports")
        self.see("There are no exports")
        self.click("Export to a bucket")
        self.fill("Bucket", "missing")
        self.click("Export")
        self.see("failed", "table")
        self.click("Export to a bucket")
        self.fill("Bucket", "out")
        self.fill("Prefix", "daily")
        self.click("Export")
        self.until(lambda: any("completed" in row.text and "30" in row.text and "out/daily" in row.text for row in self.all("tbody tr")))
        files = list((self.server.buckets / "out/daily").rglob("*.json.gz"))
        self.assertEqual(sum(gzip.decompress(f.read_bytes()).count(b"\n") for f in files), 30)
        self.check_accessibility("exports")

    def test_a_table_is_imported(self):
        source = self.server.buckets / "in"
        source.mkdir()
        (source / "rows.json").write_text("".join(json.dumps({"Item": {"pk": {"S": str(i)}}}) + "\n" for i in range(40)))
        (source / "rows.csv").write_text("id,name\n1,one\n2," + harness.MARKUP.replace('"', "'") + "\n")
        self.open("#/transfers")
        self.click("Import from a bucket")
        self.fill("Bucket", "in")
        self.fill("Key prefix", "rows.json")
        self.fill("Table name", "FromJson")
        self.fill("Partition key", "pk")
        self.check_accessibility("import-bucket")
        self.click("Import")
        self.until(lambda: any("FromJson" in row.text and "completed" in row.text and "40" in row.text for row in self.all("tbody tr")))
        self.click("Import from a bucket")
        self.fill("Bucket", "in")
        self.fill("Key prefix", "rows.csv")
        self.choose("Format", "CSV")
        self.fill("Table name", "FromCsv")
        self.fill("Partition key", "id")
        self.click("Import")
        self.until(lambda: any("FromCsv" in row.text and "completed" in row.text for row in self.all("tbody tr")))
        self.click("FromCsv")
        self.see_rows(2)
        self.see("onerror", ".grid")
        self.open("#/import")
        self.fill("Bucket", "nowhere")
        self.fill("Table name", "FromNowhere")
        self.fill("Partition key", "pk")
        self.click("Import")
        self.see("NoSuchBucket")


if __name__ == "__main__":
    unittest.main(verbosity=2)
