// SPDX-License-Identifier: Apache-2.0
// What the test of dynamodb-stream uses of AVA, which needs 200 packages.
const assert = require('node:assert/strict')
const { test } = require('node:test')
let before
module.exports = (name, body) => test(name, async () => {
  const t = { deepEqual: assert.deepEqual }
  await before(t)
  await body(t)
})
module.exports.beforeEach = (body) => { before = body }
module.exports.skip = () => {}
