import t from 'tap';
import type { Rule } from '../../../core/interfaces/rule.ts';
import { type GateCase, gateTester } from '../../../testing.ts';

const rule: Rule = {
  id: 'cel',
  point: 'release',
  module: new URL('../../../plugins/policy-engines/cel.ts', import.meta.url),
};
const policyOf = (...texts: readonly (string | Buffer)[]): NonNullable<GateCase['policy']> => ({
  name: 'release',
  files: texts.map((text, index) => ({ path: `policies/${index}.cel`, bytes: Buffer.from(text as string) })),
});
const files = { 'src/a.js': { base: 'one\n', candidate: 'two\n' }, 'infra/x.tf': { candidate: 'x\n' } };
const found = (code: string, action: string, path?: string) => ({
  rule: 'cel',
  severity: 'error' as const,
  detail: { code, policy: 'release', action, policies: ['policies/0.cel'] },
  ...(path === undefined ? {} : { path }),
});

t.test('permits if each expression is true, and names the one that is false', async (t) => {
  await gateTester(t, rule, {
    valid: [
      {
        name: 'facts are those of the diff, and numbers are whole',
        files,
        policy: policyOf(
          `action == "change" || (change.files == 2 && change.linesAdded == 2 && change.binaryFiles == 0
             && change.extensions == ["tf", "js"] && "infra" in change.directories && object == "change")`,
          'action == "commit" || file.path == object && file.path.matches("^(src|infra)/")',
          'stage == "" && size(approvals.approvers) == 0 && findings.errors == 0',
        ),
      },
    ],
    invalid: [
      {
        name: 'a file that an expression excludes',
        files,
        policy: policyOf(
          '// @reason ask the platform team\naction != "change" || !file.path.startsWith("infra/")',
        ),
        expect: [
          {
            ...found('POLICY_DENIED', 'change', 'infra/x.tf'),
            message: 'policy `release` denies `change`: `policies/0.cel` is false (ask the platform team)',
          },
        ],
      },
      {
        name: 'a fact that does not exist',
        policy: policyOf('change.filez == 1'),
        files: { 'a.js': { candidate: 'x\n' } },
        expect: [found('POLICY_FAULT', 'commit'), found('POLICY_FAULT', 'change', 'a.js')],
      },
      {
        name: 'a value that is no boolean',
        policy: policyOf('change.files'),
        expect: [found('POLICY_FAULT', 'commit')],
      },
      ...Object.entries({
        'an expression that does not parse': 'change.files ==',
        'an empty file': '',
        'bytes that are no text': Buffer.from([0xff, 0xfe]),
      }).map(([name, text]) => ({
        name,
        policy: policyOf(text),
        expect: [
          { rule: 'cel', detail: { code: 'POLICY_INVALID', policy: 'release', file: 'policies/0.cel' } },
        ],
      })),
      { name: 'no policy', expect: [{ rule: 'cel', detail: { code: 'POLICY_INVALID' } }] },
    ],
  });
});
