import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { long } from '../../rooms/long.ts';
import { byId, judge, logOf, sceneOf } from './scene.ts';

// Sandboxes on a busy machine.
t.setTimeout(180_000);

const audit = {
  'scripts/audit.js': "console.log('refused'); process.exit(1);\n",
  'scripts/nice.js': "require('node:fs').writeFileSync('scripts/audit.js', '');\n",
  'scripts/package.json': '{"type":"commonjs"}\n',
};

long('a later check runs the committed script, not the one that a test rewrote', async (t) => {
  const config = '[workspace]\nrewrites = ["scripts/audit.js"]\n';
  const sample = sceneOf(t, { ...audit, '.writ/config.toml': config });
  const view = await judge(sample, {
    fast: [{ id: 'unit', command: 'node scripts/nice.js' }],
    release: [{ id: 'audit', command: 'node scripts/audit.js' }],
  });
  t.equal(byId(view).unit?.status, 'passed');
  t.equal(byId(view).audit?.exitCode, 1, 'the committed file has judged');
  t.not(view.decision?.type, 'commit');
});

long('a check cannot pass files to another check through any writable path', async (t) => {
  const places =
    '. src .git .git/hooks .git/objects "$HOME" "$TMPDIR" "$REPORTS_DIR" /tmp /dev/shm /var/tmp /home /';
  const leave = `for place in ${places}; do echo planted 2>/dev/null >$place/planted; done; true`;
  const look = `for place in ${places}; do test ! -e $place/planted || echo found in $place; done`;
  const sample = sceneOf(t, {
    'leave.sh': `${leave}\n`,
    'look.sh': `found=$(${look})\necho "$found"\ntest -z "$found"\n`,
  });
  const view = await judge(sample, {
    fast: [
      { id: 'leave', command: 'sh leave.sh' },
      { id: 'beside', command: 'sh look.sh' },
    ],
    integration: [{ id: 'later', command: 'sh look.sh' }],
    release: [{ id: 'last', command: 'sh look.sh' }],
  });
  const found = byId(view);
  t.equal(found.leave?.status, 'passed');
  for (const id of ['beside', 'later', 'last']) t.equal(found[id]?.status, 'passed', id);
});

long('concurrent checks do not see each other', async (t) => {
  const script = 'touch "mark-$1"; sleep 1; test "$(ls mark-* | wc -l)" = 1 || exit 9\n';
  const sample = sceneOf(t, { 'mark.sh': script });
  const view = await judge(
    sample,
    { fast: ['a', 'b', 'c'].map((id) => ({ id, command: `sh mark.sh ${id}` })) },
    { execution: { retry: { maxRetries: 0 }, concurrency: { maxParallelTasks: 3 } } },
  );
  t.strictSame(
    Object.values(byId(view)).map(({ exitCode }) => exitCode),
    [0, 0, 0],
  );
});

long('files left by integration checks do not change what they measure', async (t) => {
  const script = 'echo x >>seen; n=$(wc -l <seen); echo "{\\"seen\\":$n}" >"$REPORTS_DIR/metrics.json"\n';
  const sample = sceneOf(t, { 'speed.sh': script });
  const view = await judge(sample, {
    fast: [{ id: 'unit', command: 'true' }],
    integration: [{ id: 'speed', command: 'sh speed.sh' }],
  });
  const [metric] = byId(view).speed?.baseline?.speed?.measured ?? [];
  t.ok(metric && metric.base.length >= 3);
  t.ok(
    [...(metric?.base ?? []), ...(metric?.candidate ?? [])].every((value) => value === 1),
    JSON.stringify(metric),
  );
});

long('a check cannot read objects of a private branch or a stash of the user', async (t) => {
  const sample = sceneOf(t, {
    'spy.sh': [
      'for id in "$@"; do git cat-file -p "$id" 2>/dev/null; done',
      'git cat-file --batch-check --batch-all-objects | sort >all',
      'while read -r id kind size; do git cat-file "$kind" "$id"; done <all | tr -d "\\0"',
      'cat .git/config .git/objects/info/alternates 2>/dev/null; git remote -v; git config --list; git for-each-ref; true',
    ].join('\n'),
  });
  const base = sample.git('rev-parse', 'HEAD');
  sample.git('config', 'remote.origin.url', 'https://token-of-mine@git.example.com/x.git');
  sample.git('checkout', '--quiet', '-b', 'private');
  writeFileSync(join(sample.root, 'diary.txt'), 'what nobody is to read\n');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Mine alone');
  const secret = sample.git('rev-parse', 'HEAD:diary.txt');
  const commit = sample.git('rev-parse', 'HEAD');
  sample.git('checkout', '--quiet', 'main');
  writeFileSync(join(sample.root, 'src/price.js'), '// stashed thought\n');
  sample.git('stash');
  const stash = sample.git('rev-parse', 'stash@{0}');
  const parent = sample.git('rev-parse', `${base}^`);
  const view = await judge(sample, {
    fast: [
      {
        id: 'spy',
        command: `sh spy.sh ${secret} ${commit} ${stash} ${parent}`,
        artifactsProduced: ['test-log'],
      },
    ],
  });
  const log = logOf(sample, view);
  t.equal(byId(view).spy?.status, 'passed', log);
  t.match(log, /The scene/, 'the commit of the base is there');
  t.match(log, /export const note/, 'and what the candidate adds');
  for (const mine of [
    'what nobody is to read',
    'Mine alone',
    'stashed thought',
    'token-of-mine',
    sample.root,
  ])
    t.notOk(log.includes(mine), mine);
  t.notOk(log.split('\n').includes('Sample'), 'nor what is older than the base');
});

long('git in a check behaves as in a clone of the configured depth', async (t) => {
  const sample = sceneOf(t, {
    '.writ/config.toml': '[workspace]\nhistory = 2\n',
    'ask.sh':
      'git log --format=%s; git status --porcelain; git diff --stat HEAD; git fsck --full && git rev-parse --is-shallow-repository\n',
  });
  for (const name of ['one', 'two']) {
    writeFileSync(join(sample.root, name), name);
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', name);
  }
  const view = await judge(sample, {
    fast: [{ id: 'ask', command: 'sh ask.sh', artifactsProduced: ['test-log'] }],
  });
  const log = logOf(sample, view);
  t.equal(byId(view).ask?.status, 'passed', log);
  t.match(log, /^# .*\ntwo\none\nA {2}src\/note.js\n/);
  t.match(log, /1 file changed, 1 insertion/);
  t.match(log, /^true$/m);
  t.notMatch(log, /The scene/);
});

long('git in a check with the full history is not a shallow clone', async (t) => {
  const sample = sceneOf(t, {
    '.writ/config.toml': '[workspace]\nhistory = 100\n',
    'ask.sh': 'git log --format=%s; git rev-parse --is-shallow-repository; git fsck --full\n',
  });
  const view = await judge(sample, {
    fast: [{ id: 'ask', command: 'sh ask.sh', artifactsProduced: ['test-log'] }],
  });
  t.equal(byId(view).ask?.status, 'passed');
  t.match(logOf(sample, view), /^# .*\nThe scene\nSample\nfalse/);
});

long('checks run in a repository that is a shallow clone itself', async (t) => {
  const sample = sceneOf(t, { '.writ/config.toml': '[workspace]\nhistory = 5\n' });
  execFileSync(
    'git',
    ['clone', '--quiet', '--depth=1', `file://${sample.root}`, join(sample.home, 'shallow')],
    {
      env: sample.env,
    },
  );
  const view = await sample.run(
    { source: (await import('./scene.ts')).harmless, repositoryPath: join(sample.home, 'shallow') },
    (await import('./scene.ts')).specOf({ fast: [{ id: 'ask', command: 'git log --oneline' }] }),
  );
  t.equal(byId(view).ask?.status, 'passed');
});
