import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { readCancel, watchCancel } from '../../../engine/record/claimed-run.ts';
import { formatJournal } from '../../../store/journal-witness.ts';
import { acquireRunLock } from '../../../store/run-directory.ts';
import { finishedRun, type Spoilable } from '../../engine/upkeep/finished-run.ts';
import { long } from '../../rooms/long.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const spoilable = await finishedRun({}, 1);

interface Answer {
  readonly code: number;
  readonly error?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Runs a line in a repository, and checks that what it answered has the shape that is promised. */
async function call(cwd: string, env: Spoilable['env'], ...argv: string[]): Promise<Answer> {
  const { code, out, err } = await runLine(['--json', ...argv], commands, { cwd, env });
  const document = JSON.parse(out);
  t.notMatch(`${out}${err}`, /^\s+at /m, 'no stack trace');
  t.equal(document.ok, code === 0);
  if (document.data !== undefined)
    t.strictSame(faultsOf(document.command, document.data), [], argv.join(' '));
  return { code, error: document.error?.code, data: document.data };
}

const on = (one: Spoilable, ...argv: string[]): Promise<Answer> => call(one.root, one.env, ...argv);

t.test('`push` and `fetch` report moved and refused refs, and unknown remotes', async (t) => {
  const one = await spoilable();
  t.match(await on(one, 'push'), { code: 128, error: 'REMOTE_UNKNOWN' });
  const bare = join(one.home, 'remote.git');
  t.match(await on(one, 'push', bare), { code: 128, error: 'REMOTE_FAILED' });
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  one.git('remote', 'add', 'origin', bare);
  t.match(await on(one, 'fetch'), { code: 0, data: { remote: 'origin', refs: [] } });
  const { code, data } = await on(one, 'push');
  t.equal(code, 0);
  const run = `refs/ai/runs/${one.runId}`;
  const refs = data.refs as readonly { readonly ref: string; readonly status: string }[];
  t.match(
    refs.find(({ ref }) => ref === run),
    { from: null, to: one.git('rev-parse', run), status: 'created' },
  );
  t.match(await on(one, 'fetch', 'origin'), { code: 0 });
  one.git('update-ref', run, one.git('commit-tree', 'HEAD^{tree}', '-m', 'another'));
  for (const command of ['push', 'fetch']) {
    const refused = await on(one, command);
    t.match(refused, { code: 1, error: 'REFS_REFUSED' });
    t.ok(JSON.stringify(refused.data).includes('diverged'), 'with the same data');
  }
  const { code: human, out } = await runLine(['fetch'], commands, { cwd: one.root, env: one.env });
  t.equal(human, 1);
  t.match(out, run);
});

t.test('a dry run of `gc` reports the same bytes as a real one', async (t) => {
  const one = await spoilable();
  const planned = await on(one, 'gc', '--dry-run');
  t.match(planned, { code: 0, data: { dry_run: true } });
  const real = await on(one, 'gc');
  t.match(real, { code: 0, data: { dry_run: false, bytes: planned.data.bytes } });
  t.match(await on(one, 'gc'), { code: 0, data: { removed: [], bytes: 0 } });
});

long('`fsck` reports problems, and `--rebuild` restores what it can', async (t) => {
  const one = await spoilable();
  t.match(await on(one, 'fsck'), { code: 0, data: { problems: [], checked: { journals: 2, entries: 1 } } });
  const object = one.git('rev-parse', `refs/ai/runs/${one.runId}:decision-record.json`);
  rmSync(looseObject(one.inGit(), object));
  rmSync(one.inGit('writ', 'ledger', 'tile', '0', '000.p', '1'));
  const found = await on(one, 'fsck');
  t.match(found, { code: 1, error: 'CHECK_FAILED' });
  const problems = found.data.problems as readonly {
    readonly code: string;
    readonly depends_on: readonly string[];
  }[];
  t.strictSame(problems.map(({ code }) => code).sort(), ['ledger-tile', 'object-missing']);
  for (const problem of problems) t.ok(problem.depends_on.includes(`commit:${one.commit}`));
  t.match(await on(one, 'fsck', '--rebuild'), { code: 0, data: { problems: [], restored: { length: 2 } } });
  t.match(await on(one, 'fsck'), { code: 0 });
  const thread = one.inGit('writ', 'threads', 't');
  const index = one.inGit('writ', 'thread-index');
  for (const directory of [thread, index]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(index, 'threads.db'), 'no database');
  t.match(await on(one, 'fsck'), {
    code: 1,
    data: { problems: [{ code: 'thread-index' }], checked: { threads: 1 } },
  });
  t.match(await on(one, 'fsck', '--rebuild'), { code: 0, data: { restored: [join(index, 'threads.db')] } });
  writeFileSync(join(thread, 'journal.jsonl'), formatJournal([{ at: 'x', type: 'facts', data: [] }]).bytes);
  const unproven = [{ code: 'thread-unproven', depends_on: ['thread:t'] }];
  t.match(await on(one, 'fsck'), { code: 1, data: { problems: unproven } });
});

t.test('`fsck` names `--rebuild` only if it can restore something', async (t) => {
  const one = await spoilable();
  const hintsOf = async (): Promise<readonly string[]> => {
    const { out } = await runLine(['--json', 'fsck'], commands, { cwd: one.root, env: one.env });
    return JSON.parse(out).error.hints;
  };
  one.git(
    'update-ref',
    '-d',
    one.git('for-each-ref', '--format=%(refname)', 'refs/ai/plans').split('\n')[0] ?? '',
  );
  const rebuild = 'restore what can be derived: `writ fsck --rebuild`';
  t.strictSame(await hintsOf(), [rebuild]);
  one.rewrite(`refs/ai/runs/${one.runId}`, { 'spec.json': '{}' });
  t.match(await hintsOf(), [rebuild, /backup/]);
  t.match((await on(one, 'fsck', '--rebuild')).data.restored, [/plans/]);
  t.match(await hintsOf(), [/^writ cannot derive what is damaged: .*backup/]);
  one.git('reset', '--quiet', '--hard', 'HEAD~1');
  one.git('reflog', 'expire', '--expire=now', '--all');
  one.git('prune', '--expire=now');
  t.match(await hintsOf(), [/^bring the commits .*`git fetch`/, /backup/]);
  one.rewrite(`refs/ai/content/${one.runId}`, { 'patchset.diff': 'of another record' });
  t.match(await hintsOf(), [
    /^bring the commits/,
    /another clone continued the run: .*`writ fetch --theirs RUN`/,
    /backup/,
  ]);
});

t.test('`replay` reports equality, the first difference or an undecided run', async (t) => {
  const one = await spoilable();
  const ref = `refs/ai/runs/${one.runId}`;
  t.match(await on(one, 'replay', one.runId), {
    code: 0,
    data: { equal: true, decision: { type: 'commit' } },
  });
  const changes = {
    'plan.json': '{}',
    'decision.json': '{}',
    'decision-input.json': '{}',
    'gate-report.json': '{}',
  };
  for (const [file, text] of Object.entries(changes)) {
    const whole = one.show(ref, file);
    one.rewrite(ref, { [file]: text });
    const replayed = await on(one, 'replay', one.runId);
    t.match(
      replayed,
      { code: 1, error: 'REPLAY_DIFFERS', data: { equal: false, first_difference: {} } },
      file,
    );
    one.rewrite(ref, { [file]: whole });
  }
  one.rewrite(ref, { 'decision.json': undefined });
  t.match(
    await on(one, 'replay', one.runId),
    { code: 1, error: 'REPLAY_DIFFERS' },
    'taken away is not undecided',
  );
  one.rewrite(ref, { 'decision.json': undefined, 'decision-record.json': undefined });
  t.match(await on(one, 'replay', one.runId), { code: 1, error: 'RUN_UNDECIDED' });
});

t.test('`cancel` sends its request to the process of the run and then withdraws it', async (t) => {
  const one = await spoilable();
  const directory = one.inGit('writ', 'runs', one.runId);
  t.match(await on(one, 'cancel', one.runId), { code: 1, error: 'RUN_NOT_CANCELLABLE' }, 'it has ended');
  const lock = await acquireRunLock(directory);
  const end = new AbortController();
  const watching = watchCancel(
    directory,
    (request) => {
      t.match(request, { by: /./, reason: 'not needed' });
      lock.release();
    },
    end.signal,
  );
  t.match(await on(one, 'cancel', one.runId, '--reason', 'not needed'), {
    code: 1,
    error: 'RUN_NOT_CANCELLABLE',
  });
  end.abort();
  await watching;
  t.equal(await readCancel(directory), undefined);
});

t.test('upkeep commands refuse unknown runs, bad arguments and missing working trees', async (t) => {
  const one = await spoilable();
  const outside = join(one.home, 'outside');
  mkdirSync(outside);
  const bare = join(one.home, 'bare.git');
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  for (const command of ['push', 'fetch', 'gc', 'fsck', 'replay', 'cancel']) {
    const more = command === 'replay' || command === 'cancel' ? ['0000-none'] : [];
    t.match(await call(outside, one.env, command, ...more), { code: 128, error: 'NOT_A_REPOSITORY' });
    t.match(await call(bare, one.env, command, ...more), { code: 128, error: 'BARE_REPOSITORY' });
    t.match(await on(one, command, 'a', 'b', 'c'), { code: 129, error: 'USAGE' });
  }
  for (const command of ['replay', 'cancel']) {
    t.match(await on(one, command, 'nothing-like-it'), { code: 1, error: 'RUN_NOT_FOUND' });
    t.match(await on(one, command, one.runId.slice(0, 5)), { code: 1, error: 'RUN_NOT_FOUND' }, 'fits two');
    t.match(await on(one, command, '../../../etc/passwd'), { code: 1, error: 'RUN_NOT_FOUND' });
    t.match(await on(one, command), { code: 129, error: 'USAGE' });
  }
  const tooLong = ['--reason', 'x'.repeat(2001)];
  t.match(await on(one, 'cancel', one.runId, ...tooLong), { code: 129, error: 'USAGE' });
});
