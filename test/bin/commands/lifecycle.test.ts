import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-lifecycle-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
for (const name of ['repo', 'elsewhere']) mkdirSync(join(root, name));
writeFileSync(join(root, 'repo', 'a.txt'), 'one\n');
const repo = join(root, 'repo');
const identity = { name: 'Ada', email: 'ada@example.com' };
Object.assign(process.env, {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: identity.name,
  GIT_AUTHOR_EMAIL: identity.email,
  GIT_COMMITTER_NAME: identity.name,
  GIT_COMMITTER_EMAIL: identity.email,
});
const git = (...args: string[]): string => execFileSync('git', args, { cwd: repo, encoding: 'utf8' });
git('init', '-q', '-b', 'main');
git('add', '-A');
git('commit', '-q', '-m', 'first');

interface Answer {
  readonly code: number;
  readonly data: {
    readonly status?: string;
    readonly events?: readonly Readonly<Record<string, string>>[];
    readonly change_log?: readonly unknown[];
    readonly markdown?: string;
    readonly superseded_by?: string;
  };
  readonly error?: { readonly code: string; readonly details?: unknown };
}

/** Runs a line in the repository and checks the shape of what it answered. */
async function answer(...argv: string[]): Promise<Answer> {
  const { code, out } = await runLine(['--json', 'spec', ...argv], commands, { cwd: repo });
  const document = JSON.parse(out);
  if (code === 0) t.strictSame(faultsOf(document.command, document.data), [], argv.join(' '));
  t.equal(document.ok, code === 0);
  return { code, ...document };
}

function write(name: string, id: string, more: Parameters<typeof sampleSpecWith>[0] = {}): string {
  const spec = sampleSpecWith({ ...more, metadata: { ...more.metadata, id } });
  writeFileSync(join(repo, name), `${JSON.stringify(spec, null, 1)}\n`);
  return readFileSync(join(repo, name), 'utf8');
}
const draft = { lifecycle: { status: 'draft' as const } };

long('a draft is activated and closed without a change to its file', async (t) => {
  const id = 'intent-0001';
  const before = write('one.json', id, draft);
  t.match(await answer('show', '--current', 'one.json'), { code: 0, data: { status: 'draft', events: [] } });
  t.match(await answer('show', '--current', id), { code: 1, error: { code: 'INTENT_NOT_FOUND' } });
  const activated = await answer('activate', 'one.json');
  t.match(activated, { code: 0, data: { status: 'active', spec_id: id } });
  t.match(activated.data.events, [
    { from: 'draft', status: 'active', by: `${identity.name} <${identity.email}>` },
  ]);
  for (const named of ['one.json', id]) {
    const { code, data } = await answer('show', '--current', named);
    t.equal(code, 0);
    t.equal(data.status, 'active');
    t.equal(data.events?.length, 1);
    t.match(data.markdown, /Status: \*\*active\*\*/);
  }
  t.match(await answer('activate', 'one.json'), {
    code: 1,
    error: { code: 'LIFECYCLE_ILLEGAL_TRANSITION', details: { from: 'active', to: 'active' } },
  });
  const closed = await answer('close', id, '--reason', 'no longer *needed*');
  t.match(closed, { code: 0, data: { status: 'closed' } });
  t.equal(closed.data.events?.at(-1)?.reason, 'no longer *needed*');
  t.match(
    (await answer('show', '--current', id)).data.markdown,
    /no longer \\\*needed\\\*/,
    'words of others are escaped',
  );
  t.match(await answer('close', id), { code: 1, error: { details: { from: 'closed', to: 'closed' } } });
  t.equal(readFileSync(join(repo, 'one.json'), 'utf8'), before);
});

long('a new spec supersedes an old one by file or by id', async (t) => {
  for (const [name, id] of [
    ['old.json', 'intent-old1'],
    ['next.json', 'intent-next'],
  ] as const) {
    write(name, id, draft);
    await answer('activate', name);
  }
  write('third.json', 'intent-third', draft);
  t.match(await answer('supersede', 'intent-old1', 'third.json'), {
    code: 1,
    error: { code: 'LIFECYCLE_NOT_ACTIVE' },
  });
  t.match(await answer('supersede', 'intent-old1', 'nobody'), {
    code: 1,
    error: { code: 'INTENT_NOT_FOUND' },
  });
  t.match(await answer('supersede', 'intent-old1', 'old.json'), { code: 129, error: { code: 'USAGE' } });
  t.match(await answer('supersede', 'intent-old1', 'next.json'), {
    code: 0,
    data: { status: 'deprecated', superseded_by: 'intent-next' },
  });
  t.match((await answer('show', '--current', 'intent-next')).data.events, [
    {},
    { supersedes: 'intent-old1' },
  ]);
  await answer('activate', 'third.json');
  t.match(await answer('supersede', 'intent-next', 'intent-third'), {
    code: 0,
    data: { status: 'deprecated' },
  });
});

t.test('an invalid or altered spec changes no lifecycle state', async (t) => {
  write('kept.json', 'intent-kept', draft);
  await answer('activate', 'kept.json');
  const before = git('for-each-ref');
  write('changed.json', 'intent-kept', { ...draft, metadata: { target: { labels: { team: 'other' } } } });
  const details = { issues: [{ code: 'SEMANTIC_METADATA_IMMUTABLE' }] };
  for (const command of [['activate'], ['close'], ['show', '--current']])
    t.match(await answer(...command, 'changed.json'), {
      code: 1,
      error: { code: 'INTENTSPEC_INVALID', details },
    });
  writeFileSync(join(repo, 'cut.json'), '{');
  t.match(await answer('activate', 'cut.json'), { code: 1, error: { code: 'INTENTSPEC_MALFORMED' } });
  t.match(await answer('activate', 'absent.json'), { code: 129, error: { code: 'INPUT_UNREADABLE' } });
  t.match(await answer('close', 'absent.json'), { code: 1, error: { code: 'INTENT_NOT_FOUND' } });
  t.match(await answer('close', 'intent-kept', '--reason', ''), { code: 129, error: { code: 'USAGE' } });
  t.match(await answer('close', 'intent-kept', '--reason', 'x'.repeat(2001)), { code: 129 });
  t.equal(git('for-each-ref'), before);
});

t.test('outside a repository a spec can be shown but not activated', async (t) => {
  write('here.json', 'intent-here', draft);
  const cwd = join(root, 'elsewhere');
  const file = join(repo, 'here.json');
  const env = { GIT_CEILING_DIRECTORIES: root };
  Object.assign(process.env, env);
  t.equal((await runLine(['spec', 'activate', file], commands, { cwd, env })).code, 128);
  t.equal((await runLine(['spec', 'show', file], commands, { cwd, env })).code, 0);
});

t.test('human output is one line, or the history as Markdown', async (t) => {
  write('human.json', 'intent-human', draft);
  const line = async (...argv: string[]) => (await runLine(['spec', ...argv], commands, { cwd: repo })).out;
  t.match(await line('activate', 'human.json'), /^intent-human is active, as the document [0-9a-f]{64}\n$/);
  t.match(await line('show', '--current', 'human.json'), /^# intent-human\n[\s\S]*draft → active/);
  t.equal(await line('close', 'intent-human'), 'intent-human is closed\n');
});
