import t from 'tap';

const doors: Record<string, { readonly load: () => Promise<object>; readonly names: readonly string[] }> = {
  index: {
    load: () => import('../index.ts'),
    names: ['WritError', 'createEngine', 'errorCatalogue', 'isWritError'],
  },
  plugin: { load: () => import('../plugin.ts'), names: ['WritError', 'definePlugin', 'defineTask'] },
  testing: {
    load: () => import('../testing.ts'),
    names: ['gateTester', 'sampleSpec', 'sampleSpecWith', 'storeTester', 'toPatchSet', 'toRuleInput'],
  },
};

for (const [door, { load, names }] of Object.entries(doors)) {
  t.test(`the door \`${door}\` gives these names and no others`, async (t) => {
    t.strictSame(Object.keys(await load()).sort(), names);
  });
}
