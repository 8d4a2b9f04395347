import t from 'tap';
import type { PatchFile } from '../../../core/interfaces/patch-set.ts';
import { followChecks } from '../../../engine/evaluate/second-run/verification-inputs.ts';
import { judge } from '../../../gates/rules/judge-changed.ts';
import { type GateCase, toRuleInput } from '../../../plugins/testers/gate-tester.ts';
import type { CaseFile } from '../../../plugins/testers/tiny-diff.ts';
import { type Change, changes, npm, one, scripts } from '../judge-changed/changes.ts';

const ask = async (
  { name, command, base, change, links = [] }: Change,
  more: GateCase['spec'] = {},
  options: Readonly<Record<string, unknown>> = { review: 'required' },
) => {
  const paths = new Set([...Object.keys(base), ...Object.keys(change)]);
  const files: Record<string, CaseFile> = {};
  for (const path of paths) {
    if (!(path in change)) continue;
    const [was, is] = [base[path], change[path] ?? undefined];
    files[path] = {
      ...(was === undefined ? {} : { base: was }),
      ...(is === undefined ? {} : { candidate: is }),
    };
  }
  const reach = await followChecks(
    [{ id: 'check-0', command }],
    Object.entries(base).map(([path, text]) => ({
      path,
      sizeBytes: text.length,
      mode: links.includes(path) ? '120000' : '100644',
    })),
    async (wanted) => new Map(wanted.map((path) => [path, Buffer.from(base[path] ?? '')])),
  );
  return judge({ ...toRuleInput({ name, files, spec: more }), judge: reach, options });
};
const unattended = { risk: { humanInLoop: { required: false, minApprovers: 0 } } } as const;

t.test('changes to files that checks execute are found, and ordinary changes are not', async (t) => {
  const wrong: string[] = [];
  const count = { found: 0, missed: 0, extra: 0, left: 0 };
  for (const one of changes) {
    const findings = await ask(one, unattended);
    const paths = findings.flatMap(({ path = '' }) => path).sort();
    const isRight = JSON.stringify(paths) === JSON.stringify([...one.found].sort());
    count[one.found.length === 0 ? (isRight ? 'left' : 'extra') : isRight ? 'found' : 'missed'] += 1;
    if (!isRight)
      wrong.push(`${one.name}: expected ${one.found.join(', ') || 'nothing'}, found ${paths.join(', ')}`);
    if (findings.some(({ severity }) => severity !== 'error')) wrong.push(`${one.name}: no error`);
  }
  t.same(wrong, []);
  t.comment(JSON.stringify(count));
});

const patched = one('x', 'npm test', npm, { 'package.json': scripts({ test: 'echo ok 1' }) }, []);
const releaseCheck = (command: string) => ({
  ...unattended,
  acceptance: {
    verificationPlan: {
      releaseChecks: [
        {
          id: 'people',
          kind: 'policy' as const,
          command,
          required: true,
          timeoutSeconds: 60,
          expectedExitCode: 0,
          artifactsProduced: [],
        },
      ],
    },
  },
});

t.test('a change to the checks is an error unless a person reviews it', async (t) => {
  t.match(await ask(patched, unattended), [
    {
      rule: 'judge-changed',
      severity: 'error',
      path: 'package.json',
      message:
        /^`package.json` \(.*`scripts.test`\) says what verifies and changes, reached from the command of check `check-0`; it takes an approval/,
      detail: { code: 'JUDGE_CHANGED', role: 'manifest', checks: ['check-0'] },
    },
  ]);
  for (const spec of [
    { risk: { humanInLoop: { required: true, minApprovers: 1 } } },
    releaseCheck('require-approvers --min 2'),
    releaseCheck('judge-changed'),
  ] as const)
    t.match(await ask(patched, spec), [{ severity: 'warning', message: /a person reviews it before/ }]);
  t.match(await ask(patched, releaseCheck('true')), [{ severity: 'error' }]);
  t.match(
    await ask(patched, {
      ...unattended,
      intent: { changeType: 'chore', objectives: ['Change package.json'] },
    }),
    [{ severity: 'error' }],
  );
});

t.test('without a reviewer the run also uses the checks of the policy commit', async (t) => {
  const laid = async (change: Change) => {
    const findings = await ask(change, unattended, {});
    t.ok(findings.every(({ severity, detail }) => severity === 'warning' && detail?.judgedBy === 'policy'));
    return findings.flatMap(({ detail }) => detail?.lay ?? []);
  };
  t.same(await laid(patched), [{ path: 'package.json', parts: ['scripts.test'] }]);
  const audit = { 'scripts/audit.js': 'process.exit(1);\n' };
  const moved = (change: Record<string, string | null>) => one('x', 'node scripts/audit', audit, change, []);
  t.same(await laid(moved({ 'scripts/audit.js': '' })), [{ path: 'scripts/audit.js' }]);
  t.same(await laid(moved({ 'scripts/audit': '' })), [{ path: 'scripts/audit' }]);
  t.same(await laid(moved({ 'scripts/audit.js': null })), [{ path: 'scripts/audit.js' }]);
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`scripts/${at}.sh`, 'true\n']));
  const all = Object.keys(many).join(' && sh ');
  const changed = Object.fromEntries(Object.keys(many).map((path) => [path, 'false\n']));
  t.equal(
    (await laid(one('x', `sh ${all}`, many, changed, []))).length,
    60,
    'those that are not listed, too',
  );
  t.match(await ask(patched, { risk: { humanInLoop: { required: true, minApprovers: 1 } } }, {}), [
    { severity: 'warning', message: /a person reviews it/, detail: { judgedBy: undefined } },
  ]);
  const input = toRuleInput({ name: 'x', files: { '.eslintrc': { candidate: '{}' } }, spec: unattended });
  t.match(await judge(input), [{ severity: 'error' }], 'a scan runs nothing');
});

t.test('as a release check the rule waits for approvals, passes or fails', async (t) => {
  const input = {
    ...toRuleInput({ name: 'x', files: {}, spec: releaseCheck('judge-changed --min 2') }),
    args: ['--min', '2'],
    stage: { name: 'release', checks: [] },
  } as const;
  const reach = {
    files: [{ path: 'a.js', role: 'script', checks: ['unit'], via: 'x' }],
    scripts: {},
    programs: [],
    gaps: [],
  } as const;
  const changed = {
    ...input,
    ...toRuleInput({
      name: 'x',
      files: { 'a.js': { base: 'a', candidate: 'b' } },
      spec: releaseCheck('judge-changed --min 2'),
    }),
    args: input.args,
    stage: input.stage,
    judge: reach,
  };
  const approval = (principal: string, decision: 'approve' | 'reject') =>
    ({ source: 'x', status: 'counts', decision, principal, keyId: 'k' }) as never;
  t.same(await judge({ ...input, judge: reach }), [], 'nothing of the judge changed: nobody is asked');
  t.match(await judge(changed), [
    { severity: 'warning' },
    { severity: 'note', detail: { waiting: true, needed: 2 } },
  ]);
  t.match(await judge({ ...changed, approvals: [approval('a', 'approve')] }), [
    { severity: 'warning' },
    { detail: { waiting: true } },
  ]);
  const enough = await judge({ ...changed, approvals: [approval('a', 'approve'), approval('b', 'approve')] });
  t.match(enough, [{ severity: 'warning' }]);
  t.equal(enough.length, 1);
  t.match(await judge({ ...changed, approvals: [approval('a', 'reject')] }), [
    {},
    { severity: 'error', detail: { code: 'APPROVAL_REJECTED' } },
  ]);
});

t.test('at most 50 findings are listed, and files that were not followed are noted', async (t) => {
  const base = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`scripts/s${at}.js`, '1\n']));
  const all = Object.keys(base)
    .map((path) => `node ${path}`)
    .join(' && ');
  const change = Object.fromEntries(Object.keys(base).map((path) => [path, '2\n']));
  const findings = await ask(one('x', all, base, change, []), unattended);
  t.equal(findings.length, 51);
  t.match(findings.at(-1), { severity: 'error', message: '50 of 80 changed verification inputs are listed' });
  const chain = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`scripts/c${at}.js`, `import './c${at + 1}.js';\n`]),
  );
  const told = await ask(one('x', 'node scripts/c0.js', chain, { 'scripts/c0.js': '2\n' }, []), unattended);
  t.match(told.at(-1), { severity: 'note', message: /was followed: `scripts\/c\d.js`: more than 6 hops/ });
  const names = Array.from({ length: 12 }, (_, at) => [`s${at}`, `npm run s${at + 1}`]);
  const manifest = { 'package.json': scripts(Object.fromEntries([...names, ['s12', 'node a.js']])) };
  const late = await ask(
    one(
      'x',
      'npm run s0',
      manifest,
      { 'package.json': manifest['package.json'].replace('a.js', 'b.js') },
      [],
    ),
    unattended,
  );
  t.match(late.at(-1), { severity: 'note', message: /was followed: script `s\d` of .*: more than 6 hops/ });
});

t.test('without known check commands only the usual names count', async (t) => {
  const input = toRuleInput({
    name: 'x',
    files: {
      'package.json': {
        base: scripts({ test: 'a', docs: 'a' }),
        candidate: scripts({ test: 'b', docs: 'b' }),
      },
      'web/package.json': { base: scripts({ docs: 'a' }), candidate: scripts({ docs: 'b' }) },
      'jest.config.js': { candidate: 'x' },
      'src/a.js': { base: 'a', candidate: 'b' },
    },
    spec: unattended,
  });
  const paths = (await judge(input)).map(({ path }) => path);
  t.same([...paths].sort(), ['jest.config.js', 'package.json']);
});

t.test('files reached from a configuration belong to each check that runs its program', async (t) => {
  const base: Readonly<Record<string, string>> = {
    'jest.config.js': "module.exports = { setupFiles: ['./test/prepare.js'] };",
    'test/prepare.js': "require('../ci/limits.js');\n",
    'ci/limits.js': '1\n',
    'tox.ini': '[testenv]\ncommands = bash ci/all.sh\n',
    'ci/all.sh': 'npx jest\n',
  };
  const commands = ['npx jest', 'npx jest --ci', 'tox', 'tox -q', 'true'];
  const { files } = await followChecks(
    commands.map((command, at) => ({ id: `check-${at}`, command })),
    Object.entries(base).map(([path, text]) => ({ path, sizeBytes: text.length })),
    async (wanted) => new Map(wanted.map((path) => [path, Buffer.from(base[path] ?? '')])),
  );
  const of = (path: string) => files.find((file) => file.path === path)?.checks;
  const jest = ['check-0', 'check-1', 'check-2', 'check-3'];
  t.same([of('test/prepare.js'), of('ci/limits.js')], [jest, jest]);
  t.same(of('ci/all.sh'), ['check-2', 'check-3']);
});

t.test('a script counts by whatever path its command names it', async (t) => {
  const base: Readonly<Record<string, string>> = {
    'scripts/judge.py': 'print(1)\n',
    'ci/all.sh': '. "$WORKSPACE/ci/env.sh"\n',
    'ci/env.sh': 'A=1\n',
    'ci/there.sh': 'there=$(dirname "$0")\n. "$there/env.sh"\n',
    'ci/here.sh':
      'HERE="$(cd "$(dirname "$0")" && pwd)"\nSCRIPTS="$HERE/../scripts"\nexec python3 "$SCRIPTS/judge.py"\n',
    Makefile:
      'ROOT := $(shell pwd)\ntest:\n\tpython3 $(CURDIR)/scripts/judge.py\nshell:\n\tpython3 "$$PWD/scripts/judge.py"\nvariable:\n\tpython3 $(ROOT)/scripts/judge.py\n',
    'package.json': '{"scripts":{"test":"python3 \\"$PWD/scripts/judge.py\\""}}',
    'src/pkg/selfcheck.py': 'print(1)\n',
  };
  const root = '/builds/a+b (1)';
  for (const [command, found] of [
    ['python3 /workspace/scripts/judge.py', 'scripts/judge.py'],
    ['python3 "$WORKSPACE/scripts/judge.py"', 'scripts/judge.py'],
    ['cd /workspace/scripts && python3 judge.py', 'scripts/judge.py'],
    [`cd "\${WORKSPACE}" && python3 scripts/judge.py`, 'scripts/judge.py'],
    [`python3 '${root}/scripts/judge.py'`, 'scripts/judge.py'],
    [`sh -c 'python3 "${root}/scripts/judge.py"'`, 'scripts/judge.py'],
    ['sh /workspace/ci/all.sh', 'ci/env.sh'],
    ['S=scripts; python3 $S/judge.py', 'scripts/judge.py'],
    [`JUDGE="\${JUDGE:-scripts/judge.py}"; python3 "$JUDGE"`, 'scripts/judge.py'],
    [`D=ci; D=scripts; python3 \${D:-lib}/judge.py`, 'scripts/judge.py'],
    ['sh ci/here.sh', 'scripts/judge.py'],
    ['sh ci/there.sh', 'ci/env.sh'],
    ['python3 "$PWD/scripts/judge.py"', 'scripts/judge.py'],
    ['python3 "$(pwd)/scripts/judge.py"', 'scripts/judge.py'],
    ['python3 `pwd`/scripts/judge.py', 'scripts/judge.py'],
    ['make test', 'scripts/judge.py'],
    ['make shell', 'scripts/judge.py'],
    ['make variable', 'scripts/judge.py'],
    ['npm test', 'scripts/judge.py'],
    ['.venv/bin/python -m pkg.selfcheck', 'src/pkg/selfcheck.py'],
    ['python3 /elsewhere/workspace/scripts/judge.py', undefined],
  ] as const) {
    const { files } = await followChecks(
      [{ id: 'check', command }],
      Object.entries(base).map(([path, text]) => ({ path, sizeBytes: text.length })),
      async (wanted) => new Map(wanted.map((path) => [path, Buffer.from(base[path] ?? '')])),
      root,
    );
    const paths = files.map(({ path }) => path);
    if (found === undefined) t.strictSame(paths, [], command);
    else t.ok(paths.includes(found), command);
  }
});

t.test('a configuration moved to where no check uses it is reported', async (t) => {
  const moved = { 'examples/x/.env': { base: 'A=1', candidate: 'A=1' } };
  const input = toRuleInput({ name: 'x', files: moved, spec: unattended });
  const [file] = input.patch.files;
  const renamed = { ...file, path: 'examples/x/.env', oldPath: '.env', changeType: 'rename' } as PatchFile;
  const reach = {
    files: [],
    scripts: {},
    programs: ['node'],
    places: [''],
    directories: ['examples'],
    gaps: [],
  };
  const findings = await judge({ ...input, patch: { ...input.patch, files: [renamed] }, judge: reach });
  t.match(findings, [{ path: 'examples/x/.env', message: /has moved from `.env`/ }]);
});

t.test('a configuration counts where a program runs and in each parent directory', async (t) => {
  const reach = {
    files: [{ path: 'tools/lint/run.js', role: 'script', checks: ['unit'], via: 'x' }],
    scripts: {},
    programs: ['node'],
    places: ['', 'packages/app/src'],
    directories: [
      'docs',
      'packages',
      'packages/app',
      'packages/app/src',
      'packages/other',
      'tools',
      'tools/lint',
    ],
    gaps: [],
  } as const;
  for (const [directory, isRead] of [
    ['packages/app/src', true],
    ['packages/app', true],
    ['packages', true],
    ['tools/lint', true],
    ['tools', true],
    ['packages/other', false],
    ['docs', false],
  ] as const) {
    const path = `${directory}/.env`;
    const input = toRuleInput({
      name: 'x',
      files: { [path]: { base: 'A=1', candidate: 'A=2' } },
      spec: unattended,
    });
    const found = await judge({ ...input, judge: reach });
    t.strictSame(
      found.map((one) => one.path),
      isRead ? [path] : [],
      directory,
    );
  }
});

t.test('a file that cannot be read is followed no further but counts itself', async (t) => {
  const files = ['package.json', 'run.sh'].map((path) => ({ path, sizeBytes: 1, mode: '100644' }));
  const reach = await followChecks(
    [
      { id: 'check-0', command: 'npm test' },
      { id: 'check-1', command: 'sh run.sh' },
    ],
    files,
    async () => new Map(),
  );
  t.match(JSON.stringify(reach), 'run.sh');
});
