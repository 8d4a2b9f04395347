import { long } from '../../rooms/long.ts';
import '../../engine/upkeep/patience.ts';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../bin/command-table.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { fixtures, type Json, makeSample, merge } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

const edit =
  '--- a/src/price.js\n+++ b/src/price.js\n@@ -1,4 +1,4 @@\n-/** Price of `count` items, in cents. */\n+/** Price of so many, in cents. */\n export function price(count, cents) {\n   return count * cents + 1;\n }\n';

/** What only a person knows, and nothing else. */
const words: Json = {
  intent: {
    problemStatement: 'The comment names a parameter that readers do not see.',
    objectives: ['the comment says what is answered'],
    inScope: ['src/'],
  },
  acceptance: { successCriteria: ['whoever reads the comment knows what is answered'] },
  risk: { rationale: 'A comment alone is changed.' },
};

// Where there is no ssh-keygen, nobody can approve: that is medium and high.
const risks: Readonly<
  Record<string, { readonly approvers: readonly string[]; readonly skip: boolean | string }>
> = {
  low: { approvers: [], skip: false },
  medium: { approvers: ['ana'], skip: withoutSshKeygen },
  high: { approvers: ['ana', 'ben'], skip: withoutSshKeygen },
};

for (const [risk, { approvers, skip }] of Object.entries(risks)) {
  long(`a draft of ${risk} risk commits once its text fields are filled in`, { skip }, async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const keys = approvers.map((name) => [name, makeKey(sample.home, name)] as const);
    mkdirSync(join(sample.root, '.writ'));
    const signers = keys.map(([name, key]) => `${name}@sample.example ${publicOf(key)}\n`);
    writeFileSync(join(sample.root, '.writ', 'allowed_signers'), signers.join(''));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '--allow-empty', '-m', 'Who may approve');
    const env = { ...sample.env, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' };
    const call = async (...args: readonly string[]) => {
      const { code, out } = await runLine([...args, '--json'], commands, { cwd: sample.root, env });
      return { code, ...(JSON.parse(out) as { data: Record<string, string>; error?: unknown }) };
    };
    const [draft, patch] = [join(sample.home, 'draft.json'), join(sample.home, 'change.patch')];
    writeFileSync(patch, edit);

    t.match(await call('sca', 'import', join(fixtures, '../advisories/tiny.json')), { code: 0 });
    const summary = ['--summary', 'Say what a price is'];
    t.match(await call('spec', 'new', '--risk', risk, ...summary, '-o', draft), { code: 0 });
    t.match(await call('spec', 'activate', draft), { code: 1, error: { code: 'INTENTSPEC_INVALID' } });
    const written = JSON.parse(readFileSync(draft, 'utf8')) as Json;
    writeFileSync(draft, JSON.stringify(merge(written, words)));
    t.match(await call('spec', 'validate', draft), { code: 0, data: { files: [{ issues: [] }] } });
    t.match(await call('spec', 'activate', draft), { code: 0 });

    let ended = await call('run', draft, '--patch', patch);
    const runId = ended.data.run_id ?? '';
    for (const [, key] of keys) {
      t.match(ended, { code: 4 }, 'it waits for people, and for nothing else');
      t.match(await call('approve', runId, '--key', key), { code: 0 });
      ended = await call('resume', runId);
    }
    t.match(ended, { code: 0, data: { decision: { type: 'commit' } } }, JSON.stringify(ended.error));
    t.match(await call('verify', 'HEAD'), { code: 0 });
    t.match(await call('replay', runId), { code: 0, data: { equal: true } });
  });
}
