import t from 'tap';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { commandProblems } from '../../../workspace/command-acl/acl.ts';
import { isPlainlyAllowed } from '../../../workspace/command-acl/plainly-allowed.ts';
import { type Json, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

const ruleIds = ['scope'];

function judge(
  command: string,
  allowCommands: Json,
  more: Json = {},
  deny: Json = [],
): { readonly plainly: boolean; readonly problems: number } {
  const check = {
    id: 'one',
    kind: command.startsWith('scope') ? 'policy' : 'command',
    command,
    required: true,
    artifactsProduced: ['test-log'],
  };
  const rule = {
    tool: 'workspace.command',
    actions: ['execute'],
    constraints: { allowCommands, ...(more as object) },
  };
  const read = readIntentSpec(
    sampleSpec({
      acceptance: { verificationPlan: { fastChecks: [check] } },
      security: { toolAcl: { allow: [rule], deny } },
    } as Json),
  );
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return {
    plainly: isPlainlyAllowed(read.effective, ruleIds),
    problems: commandProblems(read.effective, ruleIds).length,
  };
}

t.test('everyday commands are allowed without the shell grammar', async (t) => {
  for (const [command, entry] of [
    ['npm test', 'npm'],
    ['npm  run   build --silent', 'npm run build'],
    ['node --test --test-reporter=tap', 'node --test'],
    ['scope', 'npm'],
    ['npx eslint src/', 'npx eslint'],
  ] as const) {
    t.strictSame(judge(command, [entry]), { plainly: true, problems: 0 }, command);
  }
});

long('a plainly allowed command is also allowed under the shell grammar', async (t) => {
  const commands = [
    'npm test',
    'npmx',
    'npm test; rm -rf x',
    'npm $HOME',
    'npm `id`',
    'npm > x',
    'npm "a b"',
    'env npm test',
    'sh -c npm',
    'PATH=. npm',
    './npm',
    'npm *',
    'npm {a,b}',
    'npm ~',
    'npm # x',
    'npm\ttest',
    ' npm test',
    'timeout 5 npm',
    'xargs npm',
    'find . -exec npm',
    'scope x',
    'npm !x',
    'npm \\x',
    "npm 'x'",
    'npm a=b',
    'A=b npm',
  ];
  const entries: readonly Json[] = [
    ['npm'],
    ['npm test'],
    ['npm "a'],
    ['*'],
    ['n*'],
    ['./npm'],
    ['env'],
    ['sh', 'env', 'xargs', 'find', 'timeout'],
    [],
    'npm',
    [5],
  ];
  for (const command of commands) {
    for (const entry of entries) {
      for (const more of [
        {},
        { denySubstrings: ['npm'] },
        { unknown: 1 },
        { maxOutputBytes: 'x' },
        { writeRoots: ['src'] },
      ] as readonly Json[]) {
        const { plainly, problems } = judge(command, entry, more);
        if (plainly)
          t.equal(problems, 0, `${command} under ${JSON.stringify(entry)} ${JSON.stringify(more)}`);
      }
    }
  }
});

t.test('a deny rule that may match a command leaves it to the shell grammar', async (t) => {
  const deny = (constraints: Json, tool = 'workspace.command'): Json => [
    { tool, actions: ['execute'], constraints },
  ];
  t.equal(judge('npm test', ['npm'], {}, deny({ denySubstrings: ['--unsafe'] })).plainly, true);
  t.equal(judge('npm test', ['npm'], {}, deny({}, 'workspace.fs')).plainly, true);
  for (const rules of [
    deny({ denySubstrings: ['TEST'] }),
    deny({}),
    deny({ denySubstrings: [] }),
    deny({ allowCommands: ['npm'] }),
    deny({}, '*'),
    deny({}, 'workspace.*'),
  ]) {
    t.equal(judge('npm test', ['npm'], {}, rules).plainly, false, JSON.stringify(rules));
  }
});
