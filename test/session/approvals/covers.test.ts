import { mkdirSync, realpathSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { covers, type Grant, type GrantMoment, grantFrom } from '../../../session/approvals/grants.ts';
import { approvalKey, sandboxDigest, type ToolUse } from '../../../session/approvals/tool-use.ts';
import type { InteractionAnswer } from '../../../session/state/interaction.ts';
import { commandUse, toolUse } from './use-of.ts';

const start: GrantMoment = { epochMs: 1_000_000_000, monotonicMs: 5_000 };
const later = (ms: number): GrantMoment => ({
  epochMs: start.epochMs + ms,
  monotonicMs: start.monotonicMs + ms,
});
let ids = 0;
const answered = (answer: string | InteractionAnswer, use: ToolUse, ttlSeconds = 300): readonly Grant[] =>
  grantFrom(typeof answer === 'string' ? { option: answer } : answer, use, {
    now: start,
    ttlSeconds,
    by: { kind: 'tui' },
    newId: () => {
      ids += 1;
      return `g${ids}`;
    },
    mask: (text) => text,
  });
const verdict = (grants: readonly Grant[], use: ToolUse, now = later(1)) => covers(grants, use, now)?.verdict;

const other = sandboxDigest({ backend: 'bwrap', network: 'allow', hosts: [], writes: ['/w'] });

/** The same use again, one thing changed each time. */
const nearMisses: Readonly<Record<string, (use: ToolUse) => ToolUse>> = {
  'the same again': (use) => ({ ...use, id: 'again' }),
  'in a directory below': (use) => ({ ...use, id: 'x', cwd: `${use.cwd}/sub` }),
  'in a directory above': (use) => ({ ...use, id: 'x', cwd: '/' }),
  'in a directory whose name begins so': (use) => ({ ...use, id: 'x', cwd: `${use.cwd}2` }),
  'on another branch': (use) => ({ ...use, id: 'x', branch: 'refs/heads/next' }),
  'under another sandbox policy': (use) => ({ ...use, id: 'x', sandbox: other }),
  'outside the sandbox': (use) => ({ ...use, id: 'x', isOutside: true }),
};

const directory = ['the same again', 'in a directory below'];
const reach: Readonly<Record<string, readonly string[]>> = {
  approve: [],
  approve_session: ['the same again'],
  approve_ttl: ['the same again'],
  approve_directory_ttl: directory,
  approve_pattern_ttl: ['the same again'],
  allow_all_commands: [
    'the same again',
    'in a directory below',
    'in a directory above',
    'in a directory whose name begins so',
  ],
  approve_scope: [],
  deny: [],
  abort: [],
};

t.test('each option covers exactly the uses that it describes', async (t) => {
  for (const command of ['npm test', 'npm test > out', 'rm -rf build'])
    for (const [option, expected] of Object.entries(reach)) {
      const use = commandUse(command);
      const grants = answered(option, use);
      t.equal(
        verdict(grants, use),
        option === 'deny' || option === 'abort' ? undefined : 'go',
        `${option}: this call`,
      );
      const isNarrowed = command.startsWith('rm') && option === 'approve_directory_ttl';
      const found = Object.entries(nearMisses)
        .filter(([, change]) => verdict(grants, change(use)) === 'go')
        .map(([name]) => name);
      t.strictSame(found, isNarrowed ? ['the same again'] : expected, `${option} of ${command}`);
    }
});

t.test('one answer covers the files in the scope of a plan, for its run only', async (t) => {
  const file = (more: Partial<ToolUse['request']> = {}): ToolUse =>
    toolUse({ tool: 'workspace.fs', action: 'write', paths: ['a.ts'], ...more });
  const grants = answered('approve_scope', file());
  t.equal(verdict(grants, file({ paths: ['b.ts'] })), 'go');
  t.equal(verdict(grants, file({ action: 'delete' })), 'go');
  t.equal(verdict(grants, file({ runId: 'another' })), undefined, 'another run asks');
  t.equal(verdict(grants, { ...file(), branch: 'refs/heads/next' }), undefined, 'another branch asks');
  t.equal(verdict(grants, { ...file(), isOutside: true }), undefined, 'outside the sandbox it asks');
  t.equal(verdict(grants, commandUse('npm test')), undefined, 'a command asks');
  const ofCommand = answered('approve_scope', commandUse('npm test'));
  t.equal(verdict(ofCommand, file()), undefined, 'an answer about a command covers no file');
});

t.test('a grant does not cover a similar but different command', async (t) => {
  const pairs = [
    ['npm test', 'npm test -- a'],
    ['npm test', 'npm tests'],
    ['cp a b', 'cp b a'],
    ['cc -o a -i b', 'cc -i a -o b'],
    ['npm test', 'A=1 npm test'],
    ['A=1 npm test', 'A=2 npm test'],
    ['npm test', 'env A=1 npm test'],
    ['npm test > a', 'npm test >  a'],
    ['npm test > a', 'npm test > b'],
    ['npm test && true', 'npm test  && true'],
    ['npm test; true', 'npm test && true'],
    ['npm test', 'npm test &'],
    ['npm test', '(npm test)'],
    ['npm test', '! npm test'],
    ['echo a b', "echo 'a b'"],
    ['echo a b', 'echo\na b'],
    ['echo rm -rf a', 'echo\nrm -rf a'],
    ['echo a', 'echo a # b'],
    ['ls *', "ls '*'"],
    ['ls $X', "ls '$X'"],
    ['ls a', 'ls A'],
    ['ls \u00e9', 'ls e\u0301'],
    ['ls a', 'ls a '.replace(' ', '\t-')],
    ['ls \ud800', 'ls \ud801'],
    ['', ' '],
  ] as const;
  for (const [approved, near] of pairs)
    for (const option of ['approve_session', 'approve_ttl', 'approve_directory_ttl'])
      t.equal(
        verdict(answered(option, commandUse(approved)), commandUse(near)),
        undefined,
        `${option}: ${approved} / ${near}`,
      );
  t.equal(
    verdict(answered('approve_session', commandUse('npm  test')), commandUse('npm "test"')),
    'go',
    'the words of one plain command are what is exact, however they are written',
  );
});

t.test('a pattern covers a program with its subcommand, and never programs that run others', async (t) => {
  const first = 'npm run build -- --watch';
  const grants = answered('approve_pattern_ttl', commandUse(first));
  t.equal(grants.at(-1)?.what, 'npm run build …');
  const reached = ['npm run build', 'npm run build -- a b'];
  const missed = [
    'npm run',
    'npm run other',
    'npm test',
    'npm run builds',
    'npm --prefix x run build',
    'npm run build; ls',
    'npm run build > a',
    'npm run build $X',
    'A=1 npm run build',
    'env npm run build',
    'npm run build && rm -rf a',
    'npm run build publish',
    'npm\nrun build',
  ];
  for (const command of reached) t.equal(verdict(grants, commandUse(command)), 'go', command);
  for (const command of missed) t.equal(verdict(grants, commandUse(command)), undefined, command);
  t.equal(verdict(grants, commandUse(first, { cwd: '/w/sub' })), undefined, 'elsewhere');
  const without = [
    'sh a.sh',
    'bash -c ls',
    'node a.js',
    'python -m pytest',
    'python3 a.py',
    'env npm test',
    'xargs npm test',
    'timeout 5 npm test',
    'npx tsc',
    'npm exec a',
    'npm x a',
    'pnpm dlx a',
    'npm install a',
    'go run ./a',
    'cargo run',
    'uv run a',
    'make $X',
    'find . -name a',
    'sed p a',
    'awk 1 a',
    'git commit',
    'curl a',
    'rm a',
    'cp a b',
    'unknown do',
    'npm',
    'npm run',
    'npm -v',
    'npm $X',
    'npm test > a',
    'npm test && ls',
    'A=1 npm test',
  ];
  for (const command of without) {
    const exact = answered('approve_pattern_ttl', commandUse(command));
    t.ok(
      exact.every(({ kind }) => kind !== 'pattern'),
      `${command} has no pattern`,
    );
    t.equal(verdict(exact, commandUse(command)), 'go', 'and the option covers it exactly');
    t.equal(verdict(exact, commandUse(`${command} more`)), undefined, 'and nothing more');
  }
});

t.test('accepting future uses is temporary and excludes dangerous commands', async (t) => {
  const grants = answered({ option: 'approve', applyToFuture: 'accept_all' }, commandUse('npm test'));
  t.equal(verdict(grants, commandUse('make')), 'go');
  t.equal(verdict(grants, commandUse('make', { cwd: '/w/sub' })), 'go');
  for (const command of ['rm -rf a', 'eval a', 'sh a', 'git push', ''])
    t.equal(verdict(grants, commandUse(command)), undefined, command);
  t.equal(verdict(grants, commandUse('make'), later(300_000)), undefined, 'for a while');
  t.equal(verdict(grants, commandUse('make', { cwd: '/' })), undefined);
  t.equal(verdict(grants, toolUse({ tool: 'web.search', action: 'search', query: 'a' })), undefined);
  const written = toolUse({ tool: 'workspace.fs', action: 'write', paths: ['a'] });
  const writes = answered({ option: 'approve', applyToFuture: 'accept_all' }, written);
  t.equal(verdict(writes, toolUse({ tool: 'workspace.fs', action: 'write', paths: ['b'] })), 'go');
  t.equal(verdict(writes, toolUse({ tool: 'workspace.fs', action: 'delete', paths: ['b'] })), undefined);
});

t.test('a permanent refusal overrides every other answer', async (t) => {
  const all = answered('allow_all_commands', commandUse('npm test'));
  for (const option of ['deny', 'abort']) {
    const declined = answered({ option, applyToFuture: 'decline_all' }, commandUse('make'));
    t.equal(verdict([...all, ...declined], commandUse('npm test')), 'refuse');
    t.equal(verdict(declined, commandUse('ls', { branch: 'b', sandbox: other, isOutside: true })), 'refuse');
    t.equal(verdict(declined, toolUse({ tool: 'workspace.fs', action: 'write', paths: ['a'] })), undefined);
  }
});

t.test('an answer without consent grants nothing, whatever it says about future uses', async (t) => {
  const options = [
    'deny',
    'abort',
    'cancel',
    'modify',
    'answer',
    'network',
    '',
    'constructor',
    'approve_',
    'APPROVE',
  ];
  for (const option of options)
    for (const applyToFuture of [undefined, 'accept_all', 'decline_all'] as const) {
      const answer = { option, ...(applyToFuture === undefined ? {} : { applyToFuture }) };
      const granted = answered(answer, commandUse('npm test')).filter(({ kind }) => kind !== 'declined');
      t.strictSame(granted, [], `${option} ${applyToFuture}`);
    }
});

t.test('outside the sandbox every call needs its own approval', async (t) => {
  const all = [...Object.keys(reach)].flatMap((option) => [
    ...answered({ option, applyToFuture: 'accept_all' }, commandUse('npm test')),
    ...answered({ option, applyToFuture: 'accept_all' }, commandUse('npm test', { isOutside: true })),
  ]);
  t.equal(verdict(all, commandUse('npm test', { isOutside: true })), undefined);
  const outside = commandUse('npm test', { isOutside: true });
  const grants = answered({ option: 'allow_all_commands', applyToFuture: 'accept_all' }, outside);
  t.strictSame(
    grants.map(({ kind }) => kind),
    ['once'],
  );
  t.equal(verdict(grants, outside), 'go');
  t.equal(verdict(grants, { ...outside, request: { ...outside.request, command: 'make' } }), undefined);
});

t.test('a use that is not known exactly is covered only by its own approval', async (t) => {
  const inexact = [
    toolUse({ tool: 'vcs', action: 'write', command: '`commit` `-m` `a`', paths: ['.'] }),
    toolUse({ tool: 'web.search', action: 'search', query: 'a'.repeat(500) }),
    toolUse({ tool: 'web.search', action: 'search', query: 'about [redacted:pii:email]' }),
    toolUse({ tool: 'theirs', action: 'do' }),
  ];
  for (const use of inexact) {
    t.equal(approvalKey(use), undefined);
    for (const option of [
      'approve',
      'approve_session',
      'approve_ttl',
      'approve_directory_ttl',
      'approve_pattern_ttl',
    ]) {
      const grants = answered(option, use);
      t.equal(verdict(grants, use), 'go', option);
      t.equal(verdict(grants, { ...use, id: 'again' }), undefined, option);
    }
  }
  const commit = (...argv: string[]) => toolUse({ tool: 'vcs', action: 'write', command: 'x' }, { argv });
  const grants = answered('approve_session', commit('commit', '-m', 'a'));
  t.equal(verdict(grants, commit('commit', '-m', 'a')), 'go');
  t.equal(verdict(grants, commit('commit', '-m a')), undefined);
  t.equal(verdict(grants, commit('-m', 'commit', 'a')), undefined);
});

t.test('the approval key resolves symlinks, and the sandbox digest keeps list order', async (t) => {
  const root = realpathSync(t.testdir());
  for (const name of ['a', 'b']) mkdirSync(join(root, name));
  symlinkSync(join(root, 'a'), join(root, 'link'));
  const through = () => commandUse('npm test', { cwd: realpathSync(join(root, 'link')) });
  const grants = answered('approve_session', commandUse('npm test', { cwd: join(root, 'a') }));
  t.equal(verdict(grants, through()), 'go', 'another name of the same place');
  unlinkSync(join(root, 'link'));
  symlinkSync(join(root, 'b'), join(root, 'link'));
  t.equal(verdict(grants, through()), undefined, 'the same name of another place');
  for (const cwd of ['', 'w', '/w/', '/w/../w', '/w//a', '/w/.'])
    t.throws(
      () => approvalKey(commandUse('npm test', { cwd })),
      { code: 'INTERNAL' },
      `\`${cwd}\` is no real path`,
    );
  const policy = { backend: 'bwrap', network: 'allow', hosts: ['a', 'b'], writes: ['/w'] } as const;
  const digests = [
    policy,
    { ...policy, hosts: ['b', 'a'] },
    { ...policy, hosts: ['a'], writes: ['b', '/w'] },
    { ...policy, network: 'deny' },
    { ...policy, backend: 'none' },
  ] as const;
  t.equal(new Set(digests.map(sandboxDigest)).size, digests.length);
});

t.test('clocks that disagree never extend a grant', async (t) => {
  const use = commandUse('npm test');
  const [, ttl] = answered('approve_ttl', use, 300);
  const grants = ttl === undefined ? [] : [ttl];
  const at = (epochMs: number, monotonicMs: number) =>
    verdict(
      grants,
      { ...use, id: 'x' },
      { epochMs: start.epochMs + epochMs, monotonicMs: start.monotonicMs + monotonicMs },
    );
  t.equal(at(299_999, 299_999), 'go');
  t.equal(at(300_000, 300_000), undefined);
  t.equal(at(-86_400_000, 300_000), undefined, 'the clock of people was set back');
  t.equal(at(-86_400_000, 299_999), 'go');
  t.equal(at(300_000, 10), undefined, 'it was set forward, or the machine slept');
  t.equal(at(10, -1), undefined, 'another process counts otherwise');
  t.equal(at(Number.NaN, 10), undefined);
  t.equal(at(10, Number.NaN), undefined);
  for (const ttlSeconds of [0, -1, Number.NaN])
    for (const option of ['approve_ttl', 'approve_directory_ttl', 'approve_pattern_ttl'])
      t.strictSame(
        answered({ option, applyToFuture: 'accept_all' }, use, ttlSeconds).map(({ kind }) => kind),
        ['once'],
      );
  t.equal(answered('approve_ttl', use, 1e12).at(-1)?.ttlMs, 86_400_000, 'a day at most');
});
