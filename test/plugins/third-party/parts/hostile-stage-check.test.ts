import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { toStageCheckInput } from '../../../../plugins/testers/stage-check-tester.ts';
import { openParts } from '../../../../plugins/third-party/open-parts.ts';
import { readManifest } from '../../../../plugins/third-party/plugin-manifest.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { realOutside } from '../../../../workspace/egress/outside.ts';
import { casesOf } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(180_000);

const secret = 'canary-secret-0123456789';

/** A stage check whose `judge` is this, opened as a run opens it; whatever it connects to is the server at `port`. */
async function open(t: Test, body: string, { port = 1, more = {} }: { port?: number; more?: object } = {}) {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-stage-check-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, 'plugin');
  mkdirSync(directory);
  const check = { name: 'sly', module: './check.js', stages: ['release'], timeoutSeconds: 20, ...more };
  const writ = { api: 1, hosts: ['tickets.example'], secrets: ['SLY_TOKEN'], files: ['~/sly.txt'] };
  const manifest = { name: 'sly-plugin', version: '1.0.0', type: 'module' };
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ ...manifest, writ: { ...writ, stageChecks: [check] } }),
  );
  writeFileSync(join(directory, 'check.js'), `export async function judge(input, context) { ${body} }`);
  const pluginPackage = await readDirectory(directory);
  const parts = await openParts(
    readManifest(pluginPackage, directory),
    pluginPackage,
    {},
    {
      cacheDir: join(root, 'cache'),
      sandbox: async () => bubblewrapSandbox(),
      access: { secret: handing({ SLY_TOKEN: secret, HOME: '/root' }), file: async () => 'told' },
      outside: {
        resolve: async () => ['1.1.1.1'],
        connect: () => realOutside.connect('127.0.0.1', port),
        ownAddresses: () => [],
      },
    },
  );
  t.teardown(() => parts.close());
  const found = parts.stageChecks.get('sly');
  if (found === undefined) throw new Error('no stage check');
  return found;
}

async function ask(t: Test, body: string, more: Parameters<typeof open>[2] = {}) {
  const check = await open(t, body, more);
  return check.judge(toStageCheckInput(check, {}), AbortSignal.timeout(60_000));
}

const list = (fields: string): string => `return [{ severity: 'error', message: 'm', ${fields} }];`;
const lies: Readonly<Record<string, readonly [body: string, reason: string, found?: RegExp]>> = {
  crashes: ['process.exit(1);', 'crashed'],
  'ends well without a word': ['process.exit(0);', 'crashed'],
  'throws nonsense': ['throw null;', 'threw'],
  'answers nothing': ['return undefined;', 'garbage', /expected a list/],
  'answers a yes': ['return true;', 'garbage', /expected a list/],
  'answers in pieces': ['return (async function* () { yield []; })();', 'garbage', /expected a list/],
  'makes severities up': ["return [{ severity: 'fine', message: 'm' }];", 'garbage', /severity/],
  'says no reason': ["return [{ severity: 'error', message: '' }];", 'garbage', /message/],
  'speaks in the name of a rule': [list("rule: 'secrets'"), 'garbage', /in the name of another/],
  'adds fields': [list('approved: true'), 'garbage', /unknown field `approved`/],
  'sends a prototype': [
    'return JSON.parse(\'[{"severity":"note","message":"m","__proto__":{"polluted":1}}]\');',
    'garbage',
    /__proto__/,
  ],
  'finds without end': [
    "return Array.from({ length: 2000 }, () => ({ severity: 'note', message: 'm' }));",
    'garbage',
    /at most 1000/,
  ],
  floods: ["return [{ severity: 'note', message: 'x'.repeat(6 * 1024 * 1024) }];", 'flood'],
  'writes frames of its own': [
    "(await import('node:fs')).writeSync(1, JSON.stringify({ id: 1, done: [] }) + '\\n' + JSON.stringify({ id: 9, done: [] }) + '\\n'); await new Promise(() => {});",
    'garbage',
  ],
};

for (const [what, [body, reason, found]] of casesOf(lies, [
  'speaks in the name of a rule',
  'makes severities up',
  'crashes',
  'floods',
]))
  t.test(`a stage check that ${what} fails with a plugin fault`, async (t) => {
    const fault = await ask(t, body).catch((thrown: unknown) => thrown);
    if (what === 'writes frames of its own' && Array.isArray(fault)) {
      // The first of them is an answer like any other; what comes behind it ends the process.
      t.strictSame(fault, []);
      return;
    }
    t.match(fault, { code: 'PLUGIN_PROCESS_FAULT', detail: { plugin: 'sly-plugin', reason } }, String(fault));
    if (found) t.match(String(fault), found);
    t.notOk('polluted' in {});
  });

t.test('a stage check that hangs ends at its deadline or when the caller aborts', async (t) => {
  const late = await ask(t, 'for (;;);', { more: { timeoutSeconds: 2 } }).catch((thrown: unknown) => thrown);
  t.match(late, { code: 'PLUGIN_PROCESS_FAULT', detail: { reason: 'deadline' } }, String(late));
  const check = await open(t, 'for (;;);');
  const stop = new AbortController();
  const asked = check.judge(toStageCheckInput(check, {}), stop.signal);
  setImmediate(() => stop.abort(new Error('stopped')));
  await t.rejects(asked, { message: 'stopped' });
});

t.test('a stage check receives only what it declares, and its findings carry its name', async (t) => {
  const body = `const { signal, ...told } = context;
    return [{ severity: 'note', message: 'told', detail: { told, env: process.env, input: Object.keys(input), patch: Object.keys(input.patch) } }];`;
  const [found] = await ask(t, body);
  t.match(found, { rule: 'sly', severity: 'note' });
  const { told, env, input, patch } = (found?.detail ?? {}) as Record<string, unknown>;
  t.strictSame(told, { options: {}, secrets: { SLY_TOKEN: secret }, files: { '~/sly.txt': 'told' } });
  t.notMatch(JSON.stringify(env), /SLY|canary/);
  t.notOk((patch as string[]).includes('diff'), 'the diff is handed to who declares that it reads it');
  t.strictSame((input as string[]).toSorted(), [
    'artifacts',
    'checks',
    'findings',
    'omittedFindings',
    'patch',
    'runId',
    'spec',
    'stage',
  ]);
  const [reads] = await ask(t, "return [{ severity: 'note', message: typeof input.patch.diff }];", {
    more: { readsDiff: true },
  });
  t.equal(reads?.message, 'string');
});

t.test('an error of a stage check masks the content of its files', async (t) => {
  const body =
    "const held = context.files['~/sly.txt']; throw Object.assign(new Error(held), { why: held });";
  const fault = await ask(t, body).catch((thrown: unknown) => thrown);
  const { message, detail } = fault as { message: string; detail: object };
  t.match(message, /\[secret\]/);
  t.notMatch(JSON.stringify([message, detail]), 'told');
});

t.test('an error of a stage check masks its secret', async (t) => {
  const body =
    'throw Object.assign(new Error(context.secrets.SLY_TOKEN), { why: context.secrets.SLY_TOKEN });';
  const fault = await ask(t, body).catch((thrown: unknown) => thrown);
  const { message, detail } = fault as { message: string; detail: object };
  t.notMatch(JSON.stringify([message, detail]), secret);
});

t.test('a stage check reaches only its declared hosts', async (t) => {
  await using server = await serveModel((response) => {
    response.end('here');
  });
  const tried = (url: string) =>
    `await fetch('${url}').then(async (r) => r.status + ' ' + (await r.text()).trim()).catch(() => 'refused')`;
  const urls = [
    'http://tickets.example/',
    'http://other.example/',
    'http://tickets.example:8080/',
    'http://127.0.0.1/',
    'http://169.254.169.254/',
  ];
  const body = `return [{ severity: 'note', message: JSON.stringify([${urls.map(tried).join(', ')}]) }];`;
  const [found] = await ask(t, body, { port: server.port });
  const [own, ...others] = JSON.parse(found?.message ?? '[]');
  t.equal(own, '200 here');
  for (const [index, other] of others.entries()) t.notMatch(other, /here/, `${urls[index + 1]}: ${other}`);
  t.equal(server.asked.length, 1);
});

t.test('refuses a manifest with an invalid stage check', async (t) => {
  for (const [more, found] of [
    [{ stages: [] }, /`stages`/],
    [{ stages: undefined }, /expected `stages` to name one or more of/],
    [{ stages: ['release', 'release'] }, /each once/],
    [{ stages: ['patch'] }, /stage/],
    [{ readsDiff: 'yes' }, /`readsDiff`/],
    [{ timeoutSeconds: 601 }, /`timeoutSeconds`/],
    [{ required: false }, /unknown field `required`/],
    [{ module: '../check.js' }, /`module`/],
    [{ name: 'Sly' }, /kebab-case/],
  ] as const)
    await t.rejects(open(t, 'return [];', { more }), { code: 'PLUGIN_INVALID', message: found });
});
