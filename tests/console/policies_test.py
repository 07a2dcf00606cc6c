# SPDX-License-Identifier: Apache-2.0
"""Resource policies of tables and streams: read, put and delete, without overwriting other changes."""

import json
import unittest

import harness


def policy(action, resource):
    return json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::000000782867:user/ann"}, "Action": action, "Resource": resource}]})


class Policies(harness.ConsoleTest):
    def show(self, table, **more):
        self.arn = self.server.create(table, **more)["TableDescription"]["TableArn"]
        self.open(f"#/tables/{table}/access")
        self.see("No policy.")

    def stored(self, arn=None):
        return self.server.call("GetResourcePolicy", ResourceArn=arn or self.arn)

    def save(self, text):
        self.fill("Policy", text)
        self.click("Save policy")

    def test_a_policy_is_put_changed_and_deleted(self):
        self.show("Guarded")
        self.save(policy("dynamodb:Query", self.arn))
        self.see("The policy is saved.")
        first = self.stored()
        self.assertEqual(first["Policy"], policy("dynamodb:Query", self.arn))
        self.see("Revision " + first["RevisionId"])
        self.check_accessibility("policy")
        self.check_tab_order(10)
        self.save(policy("dynamodb:Scan", self.arn))
        self.until(lambda: self.stored()["RevisionId"] != first["RevisionId"])
        self.see("Revision " + self.stored()["RevisionId"])
        self.browser.refresh()
        self.until(lambda: self.control("Policy").get_attribute("value") == policy("dynamodb:Scan", self.arn))
        self.click("Delete policy\u2026")
        self.click("Delete policy")
        self.see("The policy is deleted.")
        self.see("No policy.")
        with self.assertRaisesRegex(AssertionError, "PolicyNotFoundException"):
            self.stored()

    def test_a_change_by_others_is_not_overwritten(self):
        self.show("Contested")
        theirs = policy("dynamodb:GetItem", self.arn)
        self.server.call("PutResourcePolicy", ResourceArn=self.arn, Policy=theirs)
        mine = policy("dynamodb:Query", self.arn)
        self.save(mine)
        self.see("the policy was changed or deleted since it was read; reload it", "[role=alert]")
        self.assertEqual(self.control("Policy").get_attribute("value"), mine)
        self.assertEqual(self.stored()["Policy"], theirs)
        self.click("Reload")
        self.until(lambda: self.control("Policy").get_attribute("value") == theirs)
        self.save(mine)
        self.until(lambda: self.stored()["Policy"] == mine)

    def test_an_invalid_policy_shows_the_error_of_the_server(self):
        self.show("Strict")
        self.save('{"Statement": [{"Effect": "Perhaps"}]}')
        self.see("ValidationException", "[role=alert]")
        self.see("No policy.")

    def test_a_stream_has_a_policy_of_its_own(self):
        self.show("Streamed", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.see("Policy of the stream")
        stream = self.server.call("DescribeTable", TableName="Streamed")["Table"]["LatestStreamArn"]
        card = self.until(lambda: [c for c in self.all("section.card") if "Policy of the stream" in c.text][0])
        document = policy("dynamodb:GetRecords", stream)
        self.one("textarea", card).send_keys(document)
        self.one("button.primary", card).click()
        self.see("The policy is saved.")
        self.assertEqual(self.stored(stream)["Policy"], document)
        with self.assertRaisesRegex(AssertionError, "PolicyNotFoundException"):
            self.stored()


if __name__ == "__main__":
    unittest.main(verbosity=2)
