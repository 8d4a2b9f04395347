import { AssertionError } from 'node:assert';
import t from 'tap';
import type { Rule } from '../../../plugin.ts';
import { type CaseRunner, type GateCase, gateTester, sampleSpec, toRuleInput } from '../../../testing.ts';

const ruleIn = (id: string, file: string): Rule => ({
  id,
  point: 'patch',
  module: new URL(`./rules/${file}.ts`, import.meta.url),
  reads: ['**/*.ts'],
});
const noTodo = ruleIn('no-todo', 'no-todo');
const clean: GateCase = { name: 'clean', files: { 'a.ts': { candidate: 'x\n' } } };
const dirty: GateCase = { name: 'dirty', files: { 'a.ts': { base: 'x\n', candidate: 'x\n// TODO\n' } } };
const place = { path: 'a.ts', line: 2 };

await gateTester(t, noTodo, {
  valid: [clean, { ...dirty, name: 'another word', args: ['FIXME'] }, { name: 'no file at all' }],
  invalid: [dirty, { ...dirty, name: 'with its place', expect: [place] }],
});

t.test('cases that hold report nothing', async (t) => {
  t.equal(
    await gateTester(undefined, noTodo, [clean, { ...dirty, expect: [{ ...place, severity: 'error' }] }]),
    undefined,
  );
});

t.test('a case that does not hold reports rule, case and findings', async (t) => {
  const wrong: Record<string, Parameters<typeof gateTester>[2]> = {
    'expects too little': [dirty],
    'expects too much': [{ ...clean, expect: [place] }],
    'expects another place': [{ ...dirty, expect: [{ line: 3 }] }],
    'expects a field that is not there': [{ ...dirty, expect: [{ column: 1 }] }],
    'a valid case that is refused': { valid: [dirty], invalid: [] },
    'an invalid case that passes': { valid: [], invalid: [clean] },
    'an invalid case in another place': { valid: [], invalid: [{ ...dirty, expect: [{ line: 9 }] }] },
    'no case at all': [],
    'no case in any group': { valid: [], invalid: [] },
  };
  for (const [how, cases] of Object.entries(wrong)) {
    const failure = await gateTester(undefined, noTodo, cases).catch((thrown) => thrown);
    t.ok(failure instanceof AssertionError, how);
    t.match(failure.message, /no-todo/, how);
  }
  const failure = await gateTester(undefined, noTodo, [dirty]).catch((thrown) => thrown);
  t.match(failure.message, /`dirty`[\s\S]*found TODO/);
});

t.test('a rule that throws passes no case, even one that expects a refusal', async (t) => {
  const broken = ruleIn('broken', 'throws');
  for (const cases of [{ valid: [], invalid: [clean] }, [{ ...clean, expect: [{ rule: 'broken' }] }]]) {
    await t.rejects(gateTester(undefined, broken, cases), { name: 'AssertionError', message: /boom/ });
  }
});

t.test('rejects a rule that is not pure', async (t) => {
  const cases = { valid: [], invalid: [clean] };
  await t.rejects(gateTester(undefined, ruleIn('counts', 'counts'), cases), { message: /asked twice/ });
});

t.test('with a runner each case is its own subtest', async (t) => {
  const names: string[] = [];
  const runner: CaseRunner = {
    test: async (name, body) => {
      names.push(name);
      await body({});
    },
  };
  await gateTester(runner, noTodo, { valid: [clean], invalid: [dirty] });
  t.strictSame(names, ['no-todo: clean', 'no-todo: dirty']);
  await t.rejects(gateTester(runner, noTodo, { valid: [dirty], invalid: [] }), { name: 'AssertionError' });
});

t.test('a rule gets only the input that it declares', async (t) => {
  const gateCase: GateCase = {
    name: 'some files',
    spec: { intent: { inScope: ['src/'] } },
    files: {
      'src/a.ts': { base: 'x\n', candidate: 'y\n' },
      'src/same.ts': { base: 'x\n', candidate: 'x\n' },
      'new.ts': { base: 'x\n', candidate: 'x\n', oldPath: 'old.js' },
      'b.md': { candidate: 'x\n' },
    },
    artifactBytes: { abc: new Uint8Array([1]) },
  };
  const names = (reads?: string[]) => Object.keys(toRuleInput(gateCase, reads ? { reads } : {}).files).sort();
  t.strictSame(names(['**/*.ts']), ['new.ts', 'src/a.ts'], 'only what changed');
  t.strictSame(names(['*.js']), ['new.ts'], 'by its old name too');
  t.strictSame(names(), [], 'nothing that it did not ask for');
  t.equal(toRuleInput(gateCase, {}).artifactBytes, undefined);
  t.ok(toRuleInput(gateCase, { readsArtifacts: true }).artifactBytes?.abc);
  t.match(toRuleInput(gateCase).scope, { wholeRepository: false, write: [/^src/] });
  t.equal(toRuleInput({ name: 'no scope' }).scope.wholeRepository, true);
});

t.test('the sample spec has the defaults of the schema', async (t) => {
  t.equal(sampleSpec.security.outputHandling.noDirectEval, true);
  t.equal(sampleSpec.acceptance.qualityGates.requireNewTestsWhenBugfix, true);
});
