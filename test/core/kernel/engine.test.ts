import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { WritError } from '../../../core/base/errors.ts';
import { createEngine, type EngineOptions } from '../../../core/kernel/engine.ts';
import { definePlugin, type LoadedPlugin, type PluginSetup } from '../../../core/kernel/plugin.ts';
import { createPool, evaluateRuleTask } from '../../../core/kernel/worker/pool.ts';
import { instant } from '../../waiting/instant.ts';

type Setup = (context: PluginSetup<undefined>) => undefined;

const plugin = (name: string, setup: Setup, enforces: string[] = []) =>
  definePlugin({ name, api: 1, enforces, setup });
const engine = (plugins: LoadedPlugin[], more: Partial<EngineOptions<[]>> = {}) =>
  createEngine<[]>({ plugins, rows: [], report: () => {}, tapTimeoutMs: 50, ...more });

t.test('plugins are set up and notified in order, and closed in reverse', async (t) => {
  const seen: string[] = [];
  const one = (name: string) =>
    plugin(name, ({ hooks, onClose }) => {
      seen.push(`${name} set up`);
      hooks.engine.opened.tap(() => void seen.push(`${name} opened`));
      hooks.engine.closed.tap(() => void seen.push(`${name} closed`));
      onClose(async () => {
        await instant(1);
        seen.push(`${name} gone`);
      });
    });
  const opened = await engine([one('a'), one('b')]);
  t.strictSame(opened.plugins, ['a', 'b']);
  t.strictSame(seen.splice(0), ['a set up', 'b set up', 'a opened', 'b opened']);
  await Promise.all([opened.close(), opened.close()]);
  t.strictSame(seen, ['a closed', 'b closed', 'b gone', 'a gone'], 'once, although asked twice');
  await t.rejects(opened.pool.run(evaluateRuleTask, {} as never, { timeoutMs: 1 }), { code: 'WORKER_FAULT' });
});

t.test('hooks, slots, rules and `onClose` refuse calls after set-up', async (t) => {
  const kept: PluginSetup<undefined>[] = [];
  await using _engine = await engine([
    plugin('keeper', (context) => {
      kept.push(context);
    }),
  ]);
  const [context] = kept;
  if (!context) throw new Error('set-up did not run');
  const late = { code: 'HOOK_FROZEN', hints: [/setup/] };
  t.throws(() => context.hooks.tool.guard.tap(() => undefined), late);
  t.throws(() => context.slots.signer.add('x', {} as never), late);
  t.throws(() => context.rules.add({ id: 'x', point: 'patch', module: new URL(import.meta.url) }), late);
  t.throws(() => context.onClose(() => {}), late);
});

t.test('a plugin receives exactly the listed services in its set-up context', async (t) => {
  const kept: PluginSetup<undefined>[] = [];
  const home = t.testdir({ own: 'text', 'real-file': 'text' });
  symlinkSync('real-file', join(home, 'link'));
  chmodSync(join(home, 'own'), 0o600);
  const pool = createPool({ clock: systemClock, threads: 2 });
  t.teardown(() => pool.close());
  const keeper = plugin('keeper', (context) => void kept.push(context) as undefined);
  await using _engine = await engine([keeper], { pool, env: { TOKEN: 'abc' }, clock: systemClock });
  const [context] = kept;
  if (!context) throw new Error('set-up did not run');
  t.strictSame(Object.keys(context).sort(), [
    'clock',
    'fetch',
    'files',
    'hooks',
    'onClose',
    'options',
    'pool',
    'rules',
    'secret',
    'slots',
    'stream',
  ]);
  t.equal(context.clock, systemClock);
  t.strictSame(Object.keys(context.pool), ['threads', 'run'], 'nobody but its maker closes a pool');
  t.match(await context.pool.run(evaluateRuleTask, {} as never, { timeoutMs: 5000 }), { reason: 'threw' });
  t.equal(context.secret('TOKEN'), 'abc');
  t.equal(context.secret('PATH'), undefined, 'the environment of this process was not handed over');
  t.equal(context.secret('__proto__'), undefined);
  t.throws(() => context.secret('a b'), { code: 'PLUGIN_INVALID' });
  t.equal(await context.files.read(join(home, 'own'), true), 'text');
  t.equal(await context.files.read(join(home, 'none'), true), undefined);
  await t.rejects(context.files.read(join(home, 'link'), false), { code: 'KEY_INSECURE' });
  const asked = { url: 'http://example.com/', method: 'GET', withinMs: 100, maxBytes: 1 } as const;
  await t.rejects(
    context.fetch(asked),
    { code: 'NETWORK_FAILED' },
    'plain HTTP leaves the machine for nobody',
  );
});

t.test('a plugin taps under its own name and cannot call or freeze a hook', async (t) => {
  let surface: string[] = [];
  await using opened = await engine([
    plugin('strict', ({ hooks }) => {
      surface = Object.keys(hooks.tool.guard);
      hooks.tool.guard.tap(() => ({ message: 'never' }));
    }),
  ]);
  t.strictSame(surface, ['tap']);
  t.match(await opened.hooks.tool.guard.call({ runId: 'r', tool: 'workspace.command', action: 'execute' }), {
    rule: 'strict',
    severity: 'error',
  });
});

t.test('a plugin that fails in set-up stops the engine, and earlier plugins are closed', async (t) => {
  const seen: string[] = [];
  const good = plugin('good', ({ onClose }) => onClose(() => void seen.push('good gone')) as undefined);
  const boom = new Error('boom');
  const bad = plugin('bad', () => {
    throw boom;
  });
  await t.rejects(engine([good, bad]), {
    code: 'PLUGIN_FAULT',
    detail: { plugin: 'bad' },
    cause: boom,
  });
  t.strictSame(seen, ['good gone']);
});

t.test('an async set-up is refused', async (t) => {
  const late = plugin('late', (async () => {}) as unknown as Setup);
  await t.rejects(engine([late]), { code: 'PLUGIN_INVALID', detail: { plugin: 'late' } });
});

t.test('catalogued set-up errors keep their code', async (t) => {
  const adds = (name: string) =>
    plugin(name, ({ slots }) => {
      slots.signer.add('file', {} as never);
    });
  await t.rejects(engine([adds('a'), adds('b')]), { code: 'SLOT_DUPLICATE', detail: { name: 'file' } });
  const stray = plugin(
    'stray',
    ({ hooks }) => hooks.tool.guard.tap(() => undefined, { before: 'x' }) as undefined,
  );
  await t.rejects(engine([stray]), { code: 'PLUGIN_INVALID', detail: { plugin: 'stray', before: 'x' } });
});

t.test('an invalid plugin list is refused', async (t) => {
  const a = plugin('a', () => {});
  await t.rejects(engine([a, a]), { code: 'PLUGIN_INVALID', detail: { plugin: 'a' } });
  await t.rejects(engine([a], { options: { b: 1 } }), { code: 'PLUGIN_INVALID', detail: { plugin: 'b' } });
  const raw = { name: 'raw', api: 1, enforces: [], setup() {} } as unknown as LoadedPlugin;
  await t.rejects(engine([a, raw]), { code: 'PLUGIN_INVALID', detail: { index: 1 } });
});

t.test('options are passed to the plugin they name', async (t) => {
  const seen: unknown[] = [];
  const a = definePlugin<unknown>({
    name: 'a',
    api: 1,
    options: (given) => given,
    setup({ options }): undefined {
      seen.push(options);
    },
  });
  await using _engine = await engine([a], { options: { a: { limit: 3 } } });
  t.strictSame(seen, [{ limit: 3 }]);
});

t.test('a close that fails or hangs is reported, and the other plugins still close', async (t) => {
  const faults: WritError[] = [];
  const seen: string[] = [];
  const opened = await engine(
    [
      plugin('first', ({ onClose }) => onClose(() => void seen.push('first')) as undefined),
      plugin('hangs', ({ onClose }) => onClose(() => new Promise(() => {})) as undefined),
      plugin(
        'throws',
        ({ onClose }) =>
          onClose(() => {
            throw new Error('boom');
          }) as undefined,
      ),
    ],
    { report: (fault) => faults.push(fault) },
  );
  await opened.close();
  t.strictSame(seen, ['first']);
  t.match(faults, [
    { detail: { plugin: 'throws', reason: 'threw' } },
    { detail: { plugin: 'hangs', reason: 'deadline' } },
  ]);
});

t.test('the ledger combines the rows with the declarations of the loaded plugins', async (t) => {
  const rows = [
    { id: 'scope', enforcedBy: 'core', asks: () => true },
    { id: 'secrets', asks: () => true },
  ];
  await using opened = await engine([plugin('vault', () => {}, ['secrets'])], { rows });
  t.doesNotThrow(() => opened.ledger.check());
  await using bare = await engine([], { rows });
  t.throws(() => bare.ledger.check(), { code: 'SPEC_UNENFORCED', detail: { rows: ['secrets'] } });
  await t.rejects(engine([plugin('liar', () => {}, ['everything'])], { rows }), {
    code: 'PLUGIN_INVALID',
  });
});

t.test('a given thread pool outlives the engine', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  const opened = await engine([], { pool });
  t.equal(opened.pool, pool);
  await opened.close();
  const outcome = await pool.run(evaluateRuleTask, {} as never, { timeoutMs: 5000 });
  t.match(outcome, { ok: false, reason: 'threw' }, 'it still answers');
  await pool.close();
});
