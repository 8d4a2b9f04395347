import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sampleWithPeople } from '../../engine/people.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

interface Answer {
  readonly code: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly data?: {
    readonly notices?: readonly string[];
    readonly stages: readonly {
      readonly checks: readonly { readonly id: string; readonly status: string }[];
    }[];
  };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { root, git, env } = sample;
  const write = (path: string, text: string, mode = 0o755): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  const commit = (): void => {
    git('add', '-f', '--all');
    git('-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'chore: hooks');
  };
  const seal = async (message: string, added: string): Promise<Answer> => {
    appendFileSync(join(root, 'src/price.js'), `// ${added}\n`);
    git('add', '--all');
    const line = ['seal', '-m', message, '--check', 'true', '--json'];
    const { code, out } = await runLine(line, commands, { cwd: root, env });
    return { code, ...(JSON.parse(out) as object) };
  };
  const configure = (hooks: string): void =>
    write('.writ/config.toml', `[commit]\nhooks = ${hooks}\n`, 0o644);
  return { ...sample, write, commit, seal, configure };
}

const preCommit = '#!/bin/sh\nif git diff --cached | grep "^+.*TODO"; then echo no TODO; exit 1; fi\n';
const commitMessage =
  '#!/usr/bin/env sh\nhead -1 "$1" | grep -q "^chore: " && grep -q "^Run-Id: " "$1" || { echo no subject; exit 1; }\n';

t.test('hooks that the policy commit names run over the candidate, and can refuse it', async (t) => {
  const { write, commit, seal, configure } = scene(t);
  write('.githooks/pre-commit', preCommit);
  write('.husky/commit-msg', commitMessage, 0o644);
  configure('["pre-commit", "commit-msg"]');
  commit();
  const passed = await seal('chore: a note', 'a note');
  t.match(passed, { code: 0 });
  t.match(
    passed.data?.stages[0]?.checks.map(({ id, status }) => [id, status]),
    [
      ['unit', 'passed'],
      ['hook-pre-commit', 'passed'],
      ['hook-commit-msg', 'passed'],
    ],
  );
  const refused = { code: 1, error: { code: 'DECISION_ABANDON' } };
  const both = [
    { status: 'failed', output_tail: { text: /no TODO/ } },
    { id: 'hook-commit-msg', status: 'failed', output_tail: { text: /no subject/ } },
  ];
  t.match(await seal('A note', 'TODO'), { ...refused, data: { stages: [{ checks: [{}, ...both] }] } });
  write('.githooks/pre-commit', '#!/bin/sh\n');
  t.match(await seal('chore: disarmed', 'TODO'), {
    ...refused,
    data: { stages: [{ checks: [{}, { status: 'failed', at_policy: {} }, {}] }] },
  });
});

long('hooks run again for a run that goes on from its record', async (t) => {
  const { sample } = sampleWithPeople(t, '[commit]\nhooks = ["pre-commit"]\n');
  const { root, git } = sample;
  mkdirSync(join(root, '.githooks'));
  writeFileSync(join(root, '.githooks/pre-commit'), preCommit);
  git('add', '--all');
  git('commit', '--quiet', '-m', 'chore: hooks');
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const risk = { humanInLoop: { required: true, minApprovers: 1 } };
  const waiting = await sample.run({ source: { kind: 'patch', bytes } }, { risk });
  const withHook = [{ checks: [{}, { id: 'hook-pre-commit', status: 'passed' }] }];
  t.match(waiting, { state: 'waiting', stages: withHook });
  rmSync(join(root, '.git/writ/runs', waiting.runId), { recursive: true });
  t.match(await sample.resume(waiting.runId), { state: 'waiting', stages: withHook });
});

t.test('hooks that git would run and writ does not are named, and not run', async (t) => {
  const { root, git, write, commit, seal, configure } = scene(t);
  const mark = join(root, '../ran');
  const script = `#!/bin/sh\ntouch ${mark}\nexit 1\n`;
  write('.githooks/pre-commit', '#!/bin/sh\n');
  write('.githooks/post-commit', script);
  write('.githooks/prepare-commit-msg', script, 0o644);
  git('config', 'core.hooksPath', '.githooks');
  commit();
  const named = /^git hooks that did not run: `pre-commit`, `post-commit` \(/;
  t.match(await seal('chore: one', 'one'), { code: 0, data: { notices: [named] } });
  configure('[".githooks/pre-commit"]');
  commit();
  t.match(await seal('chore: two', 'two'), {
    code: 0,
    data: { notices: [/^git hooks that did not run: `post-commit` \(/] },
  });
  t.notOk(existsSync(mark));
  if (!isLong) return leaveOut(2);
  git('config', 'core.hooksPath', '.git/hooks');
  t.notOk((await seal('chore: three', 'three')).data?.notices, 'hooks of another directory do not count');
  await runLine(['hook', 'install', 'commit-msg'], commands, { cwd: root });
  t.notOk((await seal('chore: four', 'four')).data?.notices, 'writ does not name its own');
});

t.test('a hook that is no tracked script is refused before the work', async (t) => {
  const { write, commit, seal, configure, git } = scene(t);
  for (const [hooks, message] of [
    ['["pre-commit"]', /no file `.githooks\/pre-commit` or `.husky\/pre-commit`/],
    ['["tools/commit-msg"]', /no file `tools\/commit-msg`/],
    ['["binary/pre-commit"]', /is no script/],
    ['["post-commit"]', /only these can refuse a commit/],
    ['["../pre-commit"]', /expected no empty/],
    ['[".git/hooks/pre-commit"]', /not for the workspace/],
    ['["a/pre-commit", "b/pre-commit"]', /each hook once/],
  ] as const) {
    write('binary/pre-commit', '\x7fELF\x00');
    configure(hooks);
    commit();
    t.match(await seal('chore: x', 'x'), { code: 128, error: { code: 'CONFIG_INVALID', message } }, hooks);
    git('reset', '-q', '--hard');
  }
});
