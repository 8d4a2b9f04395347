import t from 'tap';
import { definePlugin, type Plugin } from '../../../core/kernel/plugin.ts';

function setup(): undefined {}
/** Something a plugin may be although its type forbids it. */
const malformed = (fields: object) => () =>
  definePlugin({ name: 'good', api: 1, setup, ...fields } as Plugin);
const context = {} as Parameters<ReturnType<typeof definePlugin>['setup']>[0];

t.test('a defined plugin keeps its name and rows and is frozen', async (t) => {
  const plugin = definePlugin({ name: 'good-one', api: 1, enforces: ['scope'], setup });
  t.equal(plugin.name, 'good-one');
  t.strictSame(plugin.enforces, ['scope']);
  t.ok(Object.isFrozen(plugin) && Object.isFrozen(plugin.enforces));
});

t.test('an invalid plugin definition is refused', async (t) => {
  for (const name of [undefined, '', 'Good', 'two words', '-x', 'x-', '../x', 'x'.repeat(65), 7]) {
    t.throws(malformed({ name }), { code: 'PLUGIN_INVALID' }, `name ${String(name)}`);
  }
  for (const api of [undefined, 0, 2, '1'])
    t.throws(malformed({ api }), { code: 'PLUGIN_INVALID' }, `api ${api}`);
  t.throws(malformed({ setup: undefined }), { code: 'PLUGIN_INVALID' });
  t.throws(malformed({ options: {} }), { code: 'PLUGIN_INVALID' });
  t.throws(malformed({ enforces: 'scope' }), { code: 'PLUGIN_INVALID' });
  t.throws(malformed({ enforces: [1] }), { code: 'PLUGIN_INVALID' });
  t.throws(() => definePlugin(undefined as unknown as Plugin), { code: 'PLUGIN_INVALID' });
});

t.test('the plugin parses its options before set-up', async (t) => {
  const seen: number[] = [];
  const plugin = definePlugin<{ limit: number }>({
    name: 'limits',
    api: 1,
    options: (given) => {
      const { limit = 5 } = (given ?? {}) as { limit?: number };
      if (typeof limit !== 'number') throw new TypeError('expected a number');
      return { limit };
    },
    setup({ options }) {
      seen.push(options.limit);
    },
  });
  plugin.setup(context, undefined);
  plugin.setup(context, { limit: 9 });
  t.strictSame(seen, [5, 9]);
  t.throws(() => plugin.setup(context, { limit: 'many' }), {
    code: 'PLUGIN_INVALID',
    detail: { plugin: 'limits' },
    cause: { message: 'expected a number' },
  });
  t.strictSame(seen, [5, 9], 'set-up did not run');
});

t.test('a plugin without options accepts none', async (t) => {
  const plugin = definePlugin({ name: 'plain', api: 1, setup });
  plugin.setup(context, undefined);
  t.throws(() => plugin.setup(context, {}), { code: 'PLUGIN_INVALID', detail: { plugin: 'plain' } });
});

t.test('a set-up that returns a value or a promise is refused', async (t) => {
  const returning = (value: unknown) =>
    definePlugin({ name: 'late', api: 1, setup: () => value as undefined });
  t.throws(() => returning(Promise.resolve()).setup(context, undefined), {
    code: 'PLUGIN_INVALID',
    detail: { plugin: 'late' },
  });
  t.throws(() => returning(Promise.reject(new Error('x'))).setup(context, undefined), {
    code: 'PLUGIN_INVALID',
  });
  t.throws(() => returning(1).setup(context, undefined), { code: 'PLUGIN_INVALID' });
});
