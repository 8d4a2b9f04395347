import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import type { Issue } from '../../../core/interfaces/finding.ts';
import { workerRights } from '../../../spec/facts.ts';
import { scriptModel } from '../../agent/scripted-model.ts';
import { type Json, makeSample, sampleSpec } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

const people: Json = { risk: { humanInLoop: { required: true, minApprovers: 2 } } };
const noRights: Json = { execution: { retry: { maxRetries: 0 }, replan: { triggers: [] } } };
const rights: Json = { security: { toolAcl: { allow: JSON.parse(JSON.stringify(workerRights)) as Json } } };

t.test('`plan` and `run` warn about missing rights or approvers before any work', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([]);
  const given = { cwd: sample.root, env: sample.env };
  const byModel = ['--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const told = async (spec: Json, options: readonly string[]): Promise<readonly string[]> => {
    const line = ['plan', '-', '--json', ...options];
    const { out } = await runLine(line, commands, { ...given, stdin: sampleSpec(spec) });
    const { issues } = JSON.parse(out).data as { readonly issues: readonly Issue[] };
    return issues.flatMap(({ code }) => (code.endsWith('_LACKING') ? [code] : []));
  };
  t.strictSame(await told(noRights, byModel), ['RIGHTS_LACKING']);
  t.strictSame(await told(rights, byModel), []);
  t.strictSame(await told(noRights, []), [], 'where no model is asked, nobody needs them');
  t.strictSame(await told(people, []), ['APPROVERS_LACKING']);

  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec(noRights));
  const ran = await runLine(['run', spec, '--json', '--quiet', ...byModel], commands, given);
  t.equal(ran.code, 1);
  const [first = ''] = ran.err.split('\n');
  for (const part of ['warning: RIGHTS_LACKING: ', JSON.stringify(workerRights[0])])
    t.ok(first.includes(part), first);
  const { data } = JSON.parse(ran.out) as { readonly data: Json & { readonly run_id: string } };
  t.match(
    data,
    { warnings: [{ code: 'RIGHTS_LACKING' }], notices: [/^RIGHTS_LACKING: /] },
    'the run keeps it',
  );
  const shown = await runLine(['show', data.run_id], commands, given);
  t.match(shown.out, /note {2}RIGHTS_LACKING: /);

  mkdirSync(join(sample.root, '.writ'));
  for (const [keys, codes] of [
    ['# nobody\n\n  # yet\nann ssh-ed25519 AAAA\n', ['APPROVERS_LACKING']],
    ['ann ssh-ed25519 AAAA\nben ssh-ed25519 AAAB\n', []],
  ] as const) {
    writeFileSync(join(sample.root, '.writ', 'allowed_signers'), keys);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Who may approve');
    t.strictSame(await told(people, []), codes, keys);
  }
});
