import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Rule } from '../../../core/interfaces/rule.ts';
import { readResults } from '../../../plugins/policy-engines/rego.ts';
import { type GateCase, gateTester } from '../../../testing.ts';

const rule: Rule = {
  id: 'rego',
  point: 'release',
  module: new URL('../../../plugins/policy-engines/rego.ts', import.meta.url),
};
/** Permits a user the pairs of action and object that the data lists for one of the user's roles. */
const program = readFileSync(new URL('../../../fixtures/policies/rego/policy.wasm', import.meta.url));
type File = readonly [path: string, bytes: string | Buffer];
const policyOf = (...files: readonly File[]): NonNullable<GateCase['policy']> => ({
  name: 'release',
  files: files.map(([path, bytes]) => ({ path, bytes: Buffer.from(bytes as string) })),
});
const compiled: File = ['policy.wasm', program];
const spec = { metadata: { createdBy: { type: 'user' as const, id: 'ana@example.org' } } };
const dataOf = (...objects: readonly string[]): File => [
  'data.json',
  JSON.stringify({
    user_roles: { 'ana@example.org': ['author'] },
    role_permissions: {
      author: [
        { action: 'commit', object: 'change' },
        ...objects.map((object) => ({ action: 'change', object })),
      ],
    },
  }),
];
const files = { 'src/a.js': { base: 'one\n', candidate: 'two\n' }, 'infra/x.tf': { candidate: 'x\n' } };
const invalid = (file: string) => [
  { rule: 'rego', detail: { code: 'POLICY_INVALID', policy: 'release', file } },
];
/** The header of a WebAssembly module without any section. */
const emptyModule = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

t.test('evaluates a compiled policy with its data', async (t) => {
  await gateTester(t, rule, {
    valid: [
      {
        name: 'what the policy permits passes',
        files,
        spec,
        policy: policyOf(compiled, dataOf('src/a.js', 'infra/x.tf')),
      },
    ],
    invalid: [
      {
        name: 'a file that no role of the user may change',
        files,
        spec,
        policy: policyOf(compiled, dataOf('src/a.js')),
        expect: [
          {
            rule: 'rego',
            severity: 'error',
            path: 'infra/x.tf',
            message: 'policy `release` denies `change`: `example/allow` is false',
            detail: {
              code: 'POLICY_DENIED',
              policy: 'release',
              action: 'change',
              policies: ['example/allow'],
            },
          },
        ],
      },
      {
        name: 'a policy without its data permits nothing',
        files,
        spec,
        policy: policyOf(compiled),
        expect: Array.from({ length: 3 }, () => ({ rule: 'rego' })),
      },
      {
        name: 'source instead of a program',
        policy: policyOf(['a.rego', 'package a']),
        expect: invalid('a.rego'),
      },
      { name: 'two programs', policy: policyOf(compiled, ['b.wasm', program]), expect: invalid('b.wasm') },
      { name: 'no program', policy: policyOf(['a.wasm', 'text']), expect: invalid('a.wasm') },
      { name: 'another program', policy: policyOf(['a.wasm', emptyModule]), expect: invalid('a.wasm') },
      {
        name: 'a cut program',
        policy: policyOf(['a.wasm', program.subarray(0, 9000)]),
        expect: invalid('a.wasm'),
      },
      { name: 'a list as data', policy: policyOf(compiled, ['d.json', '[]']), expect: invalid('d.json') },
      {
        name: 'data that is no JSON',
        policy: policyOf(compiled, ['d.json', '{']),
        expect: invalid('d.json'),
      },
    ],
  });
});

t.test('reads a result set by the name of its entry point', async (t) => {
  const cases: readonly (readonly [entryPoint: string, results: unknown, read: object])[] = [
    ['a/allow', [{ result: true }], { denials: [] }],
    ['a/deny', [{ result: [] }], { denials: [] }],
    ['deny', [{ result: ['no', { msg: 'never' }] }], { denials: ['says: no', 'says: never'] }],
    ['a/violation', [{ result: ['no'] }], { denials: ['says: no'] }],
  ];
  for (const [entryPoint, results, read] of cases) t.same(readResults(entryPoint, results), read);
  const faults: readonly (readonly [entryPoint: string, results: unknown, fault: RegExp])[] = [
    ['a/allow', [], /is undefined/],
    ['a/deny', [], /is undefined/],
    ['a/allow', [{ result: 'yes' }], /expected a boolean/],
    ['a/deny', [{ result: false }], /expected a set/],
    ['a/deny', [{ result: [1] }], /expected each message/],
    ['a/allow', 'unreachable', /unreachable/],
  ];
  for (const [entryPoint, results, fault] of faults)
    t.match(readResults(entryPoint, results), { denials: [], fault });
});
