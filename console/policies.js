// SPDX-License-Identifier: Apache-2.0
// The Access tab: the resource policies of a table and of its stream.
import {call} from './api.js';
import {explain} from './item_editor.js';
import {button, confirmDialog, errorBox, field, formOf, h, run, say, section} from './ui.js';

const EXAMPLE = `{
  "Version": "2012-10-17",
  "Statement": [
    {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::ACCOUNT:user/NAME"},
     "Action": "dynamodb:Query", "Resource": "ARN"}
  ]
}`;

// Resolves to null if there is no policy.
async function policyOf(ResourceArn) {
  try {
    return await call('GetResourcePolicy', {ResourceArn});
  } catch (error) {
    if (error.name === 'PolicyNotFoundException') return null;
    throw error;
  }
}

// A change names the revision that was read, so that it does not overwrite another client's.
async function policySection(title, ResourceArn) {
  const box = section(title);
  const changed = (error) => explain(error, 'the policy was changed or deleted since it was read; reload it', 'PolicyNotFoundException');

  async function draw() {
    const policy = await policyOf(ResourceArn);
    const text = h('textarea', {rows: 14, spellcheck: 'false', placeholder: EXAMPLE, value: policy?.Policy ?? ''});
    const problem = h('div', {'aria-live': 'assertive'});
    const act = (control, done, action) => run(control, async () => {
      problem.replaceChildren();
      try { await action(); } catch (error) { throw changed(error); }
      say(done);
      await draw();
    }, (error) => problem.replaceChildren(errorBox(error)));
    const save = h('button', {type: 'submit', class: 'primary'}, 'Save policy');
    const remove = policy && button('Delete policy\u2026', async () => {
      if (await confirmDialog('Delete the policy?', `Nothing of it applies to ${ResourceArn} any more.`, 'Delete policy', async () => {
        try { await call('DeleteResourcePolicy', {ResourceArn, ExpectedRevisionId: policy.RevisionId}); } catch (error) { throw changed(error); }
      })) {
        say('The policy is deleted.');
        await draw();
      }
    }, {class: 'danger'});
    const reload = button('Reload', () => run(reload, draw));
    box.replaceChildren(box.firstChild, h('p', {}, h('code', {}, ResourceArn)),
      h('p', {class: 'quiet'}, policy ? `Revision ${policy.RevisionId}` : 'No policy.'),
      formOf(() => act(save, 'The policy is saved.',
        () => call('PutResourcePolicy', {ResourceArn, Policy: text.value, ExpectedRevisionId: policy?.RevisionId ?? 'NO_POLICY'})),
      field('Policy', text), problem, h('div', {class: 'actions start'}, save, remove, reload)));
  }
  await draw();
  return box;
}

export async function showPolicies(panel, table) {
  const stream = table.LatestStreamArn;
  const parts = [['Policy of the table', table.TableArn], ...(stream ? [['Policy of the stream', stream]] : [])];
  panel.append(
    h('p', {class: 'quiet'}, 'A server with --credentials enforces these policies. Without it, they are stored only.'),
    ...await Promise.all(parts.map(([title, arn]) => policySection(title, arn))));
}
