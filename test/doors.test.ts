import { readFileSync } from 'node:fs';
import t from 'tap';

const doors: Record<string, { readonly load: () => Promise<object>; readonly names: readonly string[] }> = {
  index: {
    load: () => import('../index.ts'),
    names: ['WritError', 'createEngine', 'errorCatalogue', 'isWritError'],
  },
  plugin: {
    load: () => import('../plugin.ts'),
    names: ['WritError', 'definePlugin', 'defineTask', 'providerFailure'],
  },
  verify: {
    load: () => import('../verify.ts'),
    names: ['WritError', 'isWritError', 'verifyMaterial', 'verifyRepository'],
  },
  testing: {
    load: () => import('../testing.ts'),
    names: [
      'artifactTester',
      'evidenceTester',
      'gateTester',
      'logTester',
      'providerTester',
      'sampleSpec',
      'sampleSpecWith',
      'stageCheckTester',
      'toPatchSet',
      'toRuleInput',
    ],
  },
};

for (const [door, { load, names }] of Object.entries(doors)) {
  t.test(`the entry point \`${door}\` exports exactly the listed names`, async (t) => {
    t.strictSame(Object.keys(await load()).sort(), names);
  });
}

t.test('the plugin entry point exports a type for every kind of slot', async (t) => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const kinds = [...read('core/kernel/slot.ts').matchAll(/createSlot<(\w+)>\('/g)].map(
    ([, kind = '']) => kind,
  );
  t.ok(kinds.length > 5, kinds.join(' '));
  const named: readonly string[] = read('plugin.ts').match(/\w+/g) ?? [];
  t.strictSame(
    kinds.filter((kind) => !named.includes(kind)),
    [],
  );
});
