import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { buildApproval } from '../../../attest/approval/approval-statement.ts';
import { signApproval } from '../../../attest/approval/sign-approval.ts';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { LoadedPlugin } from '../../../core/kernel/plugin.ts';
import {
  parseWaitingRecord,
  storeApproval,
  type WaitingRecord,
} from '../../../engine/record/stored-approvals.ts';
import { resumeRun } from '../../../engine/run.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { execFileBounded } from '../../../workspace/process/spawn.ts';
import { fixtures, type Json, makeSample, type Sample } from '../../engine/sample.ts';

/** A fix with a new test, as a bare diff. */
export const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

export const ann = 'ann@sample.example';
export const ben = 'ben@sample.example';
/** Who runs everything in a sample. */
export const runner = 'maintainer@sample.example';

/** A contract that wants so many people, by the human loop and by a check. */
export function wanting(count: number): Json {
  return {
    risk: { humanInLoop: { required: true, minApprovers: count } },
    acceptance: {
      verificationPlan: {
        releaseChecks: [
          { id: 'people', kind: 'policy', command: `require-approvers --min ${count}`, required: true },
        ],
      },
    },
  };
}

/** A sample whose base names Ann, Ben and the runner as signers. */
export class People {
  readonly sample: Sample;
  readonly signers: string;

  constructor(t: Test, config?: string) {
    this.sample = makeSample();
    t.teardown(() => this.sample.remove());
    const lines = [ann, ben, runner].map((person) => {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.key(person)]);
      return `${person} ${readFileSync(`${this.key(person)}.pub`, 'utf8')
        .split(' ')
        .slice(0, 2)
        .join(' ')}\n`;
    });
    mkdirSync(join(this.sample.root, '.writ'));
    this.signers = join(this.sample.root, '.writ', 'allowed_signers');
    writeFileSync(this.signers, lines.join(''));
    if (config !== undefined) writeFileSync(join(this.sample.root, '.writ', 'config.toml'), config);
    this.sample.git('add', '--all');
    this.sample.git('commit', '--quiet', '-m', 'Signers');
  }

  key(person: string): string {
    return join(this.sample.home, `${person}.key`);
  }

  async waiting(runId: string): Promise<WaitingRecord> {
    const { store } = await findRun(
      builtInStores,
      await openRepository(this.sample.root),
      systemClock,
      runId,
    );
    return parseWaitingRecord(
      (await store.objects.read(store.refs.run(runId), 'waiting.json')) ?? new Uint8Array(),
    );
  }

  /** Signs what the run waits with, with a real ssh-keygen. */
  async approve(
    runId: string,
    person: string,
    change: Partial<WaitingRecord['subject']> = {},
    expiresAtMs?: number,
  ): Promise<void> {
    const { sample } = this;
    const { subject } = await this.waiting(runId);
    const statement = buildApproval({
      subject: { ...subject, ...change },
      decision: 'approve',
      principal: person,
      signedAtMs: systemClock.now(),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    });
    const { document } = await signApproval(statement, {
      run: execFileBounded,
      keyFile: this.key(person),
      env: sample.env,
      cwd: sample.root,
    });
    const { store } = await findRun(builtInStores, await openRepository(sample.root), systemClock, runId);
    await storeApproval(store, runId, document, 'writ: approval');
  }

  async resume(
    runId: string,
    plugins: readonly LoadedPlugin[] = [],
    change: (engine: WritEngine) => WritEngine = (engine) => engine,
  ): Promise<RunView> {
    await using engine = await this.sample.engine(plugins);
    return await resumeRun(change(engine), {
      repositoryPath: this.sample.root,
      runId,
      sandbox: 'auto',
      schedulerVersion: '0.0.0-test',
      clock: systemClock,
      witness: userJournalWitness(this.sample.env),
      signal: new AbortController().signal,
    });
  }
}

/** Every approval that did not count, as the waiting check of a view tells it. */
export function uncounted(view: RunView): readonly string[] {
  const findings = view.stages.flatMap(({ checks }) => checks.flatMap((check) => check.findings));
  const { detail } = findings.find((one) => one.detail?.waiting === true) ?? {};
  const { uncounted: others = [] } = (detail ?? {}) as { readonly uncounted?: readonly { status: string }[] };
  return others.map(({ status }) => status);
}
