import './upkeep/patience.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, type Sample, sampleSpec } from './sample.ts';

const onePerson: Json = {
  risk: { humanInLoop: { required: true, minApprovers: 1 } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers', required: true }],
    },
  },
};

interface Answer {
  readonly code: number;
  readonly data?: {
    readonly run_id: string;
    readonly state: string;
  };
  readonly error?: { readonly code: string; readonly message: string; readonly hints?: readonly string[] };
}

interface Waiting {
  readonly sample: Sample;
  readonly runId: string;
  readonly ref: string;
  /** The run's own directory here. */
  readonly directory: string;
  call(...args: string[]): Promise<Answer>;
  /** Another file in the run's record, or one less. */
  put(path: string, bytes: string | undefined): void;
}

async function waitingRun(t: Test): Promise<Waiting> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const call = async (...args: string[]): Promise<Answer> => {
    const env = { ...sample.env, PATH: process.env.PATH ?? '' };
    const { code, out, err } = await runLine([...args, '--json'], commands, { cwd: sample.root, env });
    t.notMatch(`${out}${err}`, /^\s+at /m, 'no stack trace');
    return { code, ...JSON.parse(out) };
  };
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec(onePerson));
  const ran = await call(
    'run',
    spec,
    '--patch',
    join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'),
  );
  t.equal(ran.code, 4);
  t.match(ran.error?.hints, [/writ approve/], 'a person is told what to do');
  const runId = ran.data?.run_id ?? '';
  const ref = `refs/ai/runs/${runId}`;
  return {
    sample,
    runId,
    ref,
    directory: join(sample.root, '.git', 'writ', 'runs', runId),
    call,
    put(path, bytes) {
      const lines = sample
        .git('ls-tree', ref)
        .split('\n')
        .filter((line) => !line.endsWith(`\t${path}`));
      if (bytes !== undefined) {
        writeFileSync(join(sample.home, 'blob'), bytes);
        lines.push(`100644 blob ${sample.git('hash-object', '-w', join(sample.home, 'blob'))}\t${path}`);
      }
      const made = spawnSync('git', ['mktree'], {
        cwd: sample.root,
        env: sample.env,
        input: `${lines.join('\n')}\n`,
        encoding: 'utf8',
      });
      sample.git('update-ref', ref, sample.git('commit-tree', made.stdout.trim(), '-p', ref, '-m', 'other'));
    },
  };
}

/** The contract of the run, without people. */
function weaker(spec: string): string {
  const document = JSON.parse(spec);
  document.risk.humanInLoop = { required: false, minApprovers: 0 };
  return JSON.stringify(document);
}

/** Records as a journal whose chain holds. */
function toJournal(records: readonly { readonly type: string; readonly data: unknown }[]): string {
  let prev = '0'.repeat(64);
  return records
    .map(({ type, data }, index) => {
      const line = JSON.stringify({ seq: index + 1, at: '2026-01-01T00:00:00Z', type, data, prev });
      prev = sha256Hex(line);
      return `${line}\n`;
    })
    .join('');
}

long('a run does not resume with a spec other than the one it started with', async (t) => {
  const { sample, runId, directory, call, put, ref } = await waitingRun(t);
  const spec = readFileSync(join(directory, 'spec.json'), 'utf8');
  writeFileSync(join(directory, 'spec.json'), weaker(spec));
  t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT', hints: [/fsck/] } });
  t.match(await call('fsck'), { code: 1, data: { problems: [{ what: /another contract/ }] } });
  rmSync(join(directory, 'spec.json'));
  t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
  rmSync(directory, { recursive: true });
  const whole = sample.git('rev-parse', ref);
  put('spec.json', weaker(spec));
  t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT', message: /contract/ } });
  t.notOk(existsSync(join(directory, 'journal.jsonl')), 'nothing of it was taken over');
  sample.git('update-ref', ref, whole);
  t.match(await call('resume', runId), { code: 4 }, 'the whole record is, once it is there');
  t.equal(sample.git('rev-list', '--count', 'main'), '1');
});

long('a journal with a valid hash chain but unusable data is reported as JOURNAL_CORRUPT', async (t) => {
  const { runId, directory, call, put } = await waitingRun(t);
  const path = join(directory, 'journal.jsonl');
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  const { data } = JSON.parse(first);
  for (const [name, records] of [
    ['no data', [{ type: 'run-started', data: null }]],
    ['no report', [{ type: 'run-started', data: {} }]],
    ['a report of nothing', [{ type: 'run-started', data: { ...data, report: {} } }]],
  ] as const) {
    writeFileSync(path, toJournal(records));
    for (const command of name === 'no data' ? ['show', 'resume', 'cancel'] : ['show'])
      t.match(
        await call(command, runId),
        { code: 128, error: { code: 'JOURNAL_CORRUPT' } },
        `${command}: ${name}`,
      );
    t.match(await call('fsck'), { code: 1, data: { problems: [{ code: 'journal-corrupt' }] } }, name);
  }
  rmSync(directory, { recursive: true });
  put('journal.jsonl', toJournal([{ type: 'run-started', data: { ...data, runId: 'another' } }]));
  t.match(await call('resume', runId), {
    code: 128,
    error: { code: 'JOURNAL_CORRUPT', message: /another/ },
  });
});

long('a run does not resume with an artifact that changed after its checks', async (t) => {
  const { sample, runId, directory, call } = await waitingRun(t);
  const found = join(directory, 'content', 'candidate-1', 'artifacts', 'fast', 'engine', 'patchset.patch');
  writeFileSync(found, 'another patch');
  t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT', message: /changed/ } });
  rmSync(found);
  t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
  t.equal(sample.git('rev-list', '--count', 'main'), '1');
});

long('`fsck` reports missing and mismatched files of a waiting run', async (t) => {
  const { sample, runId, ref, call, put } = await waitingRun(t);
  t.match(await call('fsck'), { code: 0, data: { problems: [] } });
  sample.git('update-ref', `refs/ai/approvals/${runId}/1`, 'main');
  const told = { notices: [/^APPROVERS_LACKING/, /writ resume.*counts.*\(1\)/] };
  t.match(await call('show', runId), { data: told }, 'what is stored does not know what was signed since');
  sample.git('update-ref', '-d', `refs/ai/approvals/${runId}/1`);
  const whole = sample.git('rev-parse', ref);
  const record = JSON.parse(sample.git('show', `${ref}:waiting.json`));
  const other = (subject: Json): string =>
    JSON.stringify({ ...record, subject: { ...record.subject, ...Object(subject) } });
  for (const [bytes, code, where] of [
    ['{}', 'object-malformed', 'waiting.json'],
    [other({ gateReportDigest: '0'.repeat(64) }), 'digest-mismatch', 'gate-report.json'],
    [other({ specDigest: '0'.repeat(64) }), 'digest-mismatch', 'spec.json'],
    [other({ patchDigest: '0'.repeat(64) }), 'digest-mismatch', 'patchset.json'],
    [undefined, 'reference-missing', 'waiting.json'],
  ] as const) {
    put('waiting.json', bytes);
    const found = await call('fsck');
    t.match(found, { code: 1, data: { problems: [{ code, where: `${ref}:${where}` }] } }, `${code} ${where}`);
    sample.git('update-ref', ref, whole);
  }
  put('gate-report.json', undefined);
  t.match(await call('fsck'), { code: 1, data: { problems: [{ code: 'reference-missing' }] } });
  t.match(await call('show', runId), { code: 0 });
});

long('a damaged run record is reported as damaged, and `runs` still lists the run', async (t) => {
  const { sample, runId, ref, call, put } = await waitingRun(t);
  const whole = sample.git('rev-parse', ref);
  for (const [path, bytes] of [
    ['gate-report.json', '{'],
    ['gate-report.json', '[]'],
    ['gate-report.json', '{"schema":"urn:writ:gate-report:v1"}'],
  ] as const) {
    put(path, bytes);
    t.match(await call('show', runId), {
      code: 128,
      error: { code: 'OBJECT_CORRUPT', message: /gate-report\.json/ },
    });
    t.match(await call('resume', runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
    sample.git('update-ref', ref, whole);
  }
  for (const path of ['run.json', 'intent.json']) {
    put(path, 'nope');
    t.match(await call('runs'), { code: 0, data: { runs: [{ run_id: runId, summary: /damaged/ }] } });
    sample.git('update-ref', ref, whole);
  }
  sample.git('update-ref', ref, 'main');
  t.match(
    await call('resume', runId),
    { code: 128, error: { code: 'OBJECT_CORRUPT', message: /incomplete/ } },
    'a run without a decision was not abandoned',
  );
});
