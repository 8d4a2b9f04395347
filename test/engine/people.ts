import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { buildApproval } from '../../attest/approval/approval-statement.ts';
import { signApproval } from '../../attest/approval/sign-approval.ts';
import { systemClock } from '../../core/base/clock.ts';
import { parseWaitingRecord, storeApproval } from '../../engine/record/stored-approvals.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import { makeSample, type Sample } from './sample.ts';

export const people = ['ann@sample.example', 'ben@sample.example', 'maintainer@sample.example'];

/**
 * A sample whose base names three people with their keys; the third is who runs it. `config` stands at the base too.
 */
export function sampleWithPeople(
  t: Test,
  config?: string,
): { readonly sample: Sample; key(person: string): string } {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const key = (person: string): string => join(sample.home, `${person}.key`);
  const lines = people.map((person) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', person, '-f', key(person)]);
    return `${person} ${readFileSync(`${key(person)}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ')}`;
  });
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ', 'allowed_signers'), `${lines.join('\n')}\n`);
  if (config !== undefined) writeFileSync(join(sample.root, '.writ', 'config.toml'), config);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Signers');
  return { sample, key };
}

/** Signs what a run waits with. */
export async function sign(
  sample: Sample,
  runId: string,
  keyFile: string,
  principal: string,
  decision: 'approve' | 'reject' = 'approve',
): Promise<void> {
  const repository = await openRepository(sample.root);
  const { store } = await findRun(builtInStores, repository, systemClock, runId);
  const waiting = await store.objects.read(store.refs.run(runId), 'waiting.json');
  const { subject } = parseWaitingRecord(waiting ?? new Uint8Array());
  const statement = buildApproval({ subject, decision, principal, signedAtMs: systemClock.now() });
  const { document } = await signApproval(statement, {
    run: execFileBounded,
    keyFile,
    env: sample.env,
    cwd: sample.root,
  });
  await storeApproval(store, runId, document, 'writ: approval');
}
