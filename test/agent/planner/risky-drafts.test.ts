import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { fixtures } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

const cases = {
  medium: {
    draft: { ...priceDraft, changeType: 'feature' },
    sources: 'src/price.js\ntest/price.test.js',
    approvers: ['ann'],
    required: 'approvals,replay',
  },
  high: {
    draft: { ...priceDraft, changeType: 'security' },
    sources: 'src/price.js\ntest/price.test.js\npackage.json',
    approvers: ['ann', 'ben'],
    required: 'approvals,log,replay',
  },
} as const;

for (const [risk, { draft, sources, approvers, required }] of Object.entries(cases)) {
  const name = `a request of ${risk} risk is drafted, confirmed, worked, approved, sealed and verified`;
  long(name, { skip: withoutSshKeygen }, async (t) => {
    const sample = sampleFor(t);
    const keys = approvers.map((person) => makeKey(sample.home, person));
    const signers = join(sample.root, '.writ', 'allowed_signers');
    mkdirSync(join(sample.root, '.writ'));
    const lines = keys.map((key, index) => `${approvers[index]}@sample.example ${publicOf(key)}\n`);
    writeFileSync(signers, lines.join(''));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Who may approve');
    t.match(await call(sample, ['sca', 'import', join(fixtures, '../advisories/tiny.json')]), { code: 0 });
    const [fix, end] = makesFix;
    await using model = await scriptModel([
      submits(draft),
      ...(fix ? [fix] : []),
      {
        calls: [['record_decision', { decision: 'whole cents', sources, step: 1 }], ...(end?.calls ?? [])],
      },
    ]);
    const drafted = await ask(sample, model, []);
    t.match(drafted, { code: 4, data: { state: 'drafted', draft: { risk_level: risk, lacks: [] } } });
    const runId = drafted.data.run_id;
    let ended = await call(sample, ['resume', runId, '--yes']);
    const [, order] = model.asked;
    t.notOk(JSON.stringify(order?.body).includes('for this task itself'), 'that counts under no profile');
    for (const key of keys) {
      t.match(ended, { code: 4, error: { code: 'DECISION_WAITING' } }, 'it waits for people alone');
      t.match(await call(sample, ['approve', runId, '--key', key]), { code: 0 });
      ended = await call(sample, ['resume', runId]);
    }
    t.match(ended, { code: 0, data: { decision: { type: 'commit' } } }, JSON.stringify(ended.error));
    const demands = ['--allowed-signers', signers, '--replay', '--require', required];
    t.match(await call(sample, ['verify', 'HEAD', ...demands]), { code: 0, data: { verified: true } });
  });
}
