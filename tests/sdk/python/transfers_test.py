# SPDX-License-Identifier: Apache-2.0
"""boto3 exports a table into a bucket and imports files of every format and compression from one."""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from support import TableTest
from tables_test import wait

BUCKET = "transfers"
DIRECTORY = pathlib.Path(os.environ["BUCKETS"]) / BUCKET


class Transfers(TableTest):
    KEYS = {"pk": "S", "n": "N"}

    def setUp(self):
        super().setUp()
        DIRECTORY.mkdir(exist_ok=True)
        self.addCleanup(shutil.rmtree, DIRECTORY)

    def items(self, table):
        pages = self.db.get_paginator("scan").paginate(TableName=table)
        return sorted((item for page in pages for item in page["Items"]), key=lambda item: (item["pk"]["S"], int(item["n"]["N"])))

    def fill(self):
        for i in range(60):
            item = {"pk": {"S": f"p{i % 7}"}, "n": {"N": str(i)}, "data": {"B": bytes([i, 255])},
                    "deep": {"M": {"list": {"L": [{"NULL": True}, {"BOOL": False}, {"NS": [str(i)]}]}}}}
            self.db.put_item(TableName=self.table, Item=item)

    def export(self, **more):
        arn = self.db.describe_table(TableName=self.table)["Table"]["TableArn"]
        begun = self.db.export_table_to_point_in_time(TableArn=arn, S3Bucket=BUCKET, **more)["ExportDescription"]
        self.assertEqual(begun["ExportStatus"], "IN_PROGRESS")
        wait(self.db, "DescribeExport", "ExportDescription.ExportStatus", "COMPLETED", ExportArn=begun["ExportArn"])
        listed = self.db.list_exports(TableArn=arn)["ExportSummaries"]
        self.assertIn((begun["ExportArn"], "COMPLETED"), [(entry["ExportArn"], entry["ExportStatus"]) for entry in listed])
        return self.db.describe_export(ExportArn=begun["ExportArn"])["ExportDescription"]

    def import_table(self, target, prefix, status="COMPLETED", **more):
        begun = self.db.import_table(
            S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": prefix},
            TableCreationParameters={
                "TableName": target, "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in self.KEYS.items()],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]},
            **more)["ImportTableDescription"]
        wait(self.db, "DescribeImport", "ImportTableDescription.ImportStatus", status, ImportArn=begun["ImportArn"])
        self.addCleanup(self.db.delete_table, TableName=target)
        listed = self.db.list_imports(TableArn=begun["TableArn"])["ImportSummaryList"]
        self.assertEqual([entry["ImportStatus"] for entry in listed], [status])
        return self.db.describe_import(ImportArn=begun["ImportArn"])["ImportTableDescription"]

    def test_what_is_exported_is_imported_again(self):
        self.fill()
        self.db.update_continuous_backups(
            TableName=self.table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        expected = self.items(self.table)
        for form in ("DYNAMODB_JSON", "ION"):
            done = self.export(S3Prefix=form, ExportFormat=form)
            self.assertEqual(done["ItemCount"], 60)
            manifest = DIRECTORY / done["ExportManifest"]
            summary = json.loads(manifest.read_text())
            files = DIRECTORY / summary["manifestFilesS3Key"]
            for path in (manifest, files):
                digest = hashlib.md5(path.read_bytes()).digest()
                self.assertEqual(path.with_suffix(".md5").read_text(), base64.b64encode(digest).decode())
            data = [json.loads(line) for line in files.read_text().splitlines()]
            self.assertEqual(sum(file["itemCount"] for file in data), 60)
            for file in data:
                digest = hashlib.md5((DIRECTORY / file["dataFileS3Key"]).read_bytes()).digest()
                self.assertEqual(file["md5Checksum"], base64.b64encode(digest).decode())
            prefix = str(manifest.parent.relative_to(DIRECTORY)) + "/data/"
            done = self.import_table(f"Imported-{form}", prefix, InputFormat=form, InputCompressionType="GZIP")
            self.assertEqual((done["ProcessedItemCount"], done["ErrorCount"]), (60, 0))
            self.assertEqual(self.items(f"Imported-{form}"), expected)

    def test_each_format_is_read_in_each_compression(self):
        expected = [{"pk": {"S": "a"}, "n": {"N": "1"}, "text": {"S": "x"}}, {"pk": {"S": "b"}, "n": {"N": "2"}, "text": {"S": "y"}}]
        texts = {
            "DYNAMODB_JSON": "".join(json.dumps({"Item": item}) + "\n" for item in expected),
            "ION": '$ion_1_0 {Item:{pk:"a",n:1.,text:"x"}}\n$ion_1_0 {Item:{pk:"b",n:2.,text:"y"}}\n',
            "CSV": "pk,n,text\na,1,x\nb,2,y\n",
        }
        foldings = {"NONE": bytes, "GZIP": gzip.compress, "ZSTD": lambda plain: subprocess.check_output(["zstd", "-c"], input=plain)}
        for form, text in texts.items():
            for compression, fold in foldings.items():
                prefix = f"{form}-{compression}"
                (DIRECTORY / prefix).write_bytes(fold(text.encode()))
                with self.subTest(prefix):
                    done = self.import_table(f"Of-{prefix}", prefix, InputFormat=form, InputCompressionType=compression)
                    self.assertEqual((done["ImportedItemCount"], done["ErrorCount"]), (2, 0))
                    self.assertEqual(done["ProcessedSizeBytes"], len(text))
                    self.assertEqual(self.items(f"Of-{prefix}"), expected)

    def test_what_is_wrong_is_counted(self):
        lines = ['{"Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}', '{"Item": {"pk": {"S": "a"}, "n": {"S": "1"}}}', "garbage"]
        (DIRECTORY / "lines").write_text("\n".join(lines))
        (DIRECTORY / "lines-folded").write_bytes(b"no gzip")
        done = self.import_table("Wrong", "lines", "FAILED", InputFormat="DYNAMODB_JSON")
        self.assertEqual(done["FailureCode"], "ItemValidationError")
        self.assertIn("Some of the items failed validation checks", done["FailureMessage"])
        self.assertEqual((done["ProcessedItemCount"], done["ImportedItemCount"], done["ErrorCount"]), (4, 1, 3))
        self.assertEqual(len(self.items("Wrong")), 1)


if __name__ == "__main__":
    unittest.main()
