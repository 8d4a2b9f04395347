import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isWritError, type WritError } from '../../../../core/base/errors.ts';
import { noSandbox } from '../../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../../plugins/sandbox/unshare.ts';
import { casesOf } from '../../../rooms/long.ts';
import { call, openProcess, quick } from './process-bench.ts';

t.setTimeout(120_000);

const honest = {
  'files/main.js': `
export const echo = (value) => value;
export const sizeOf = (bytes) => bytes.length;
export const half = (bytes) => ({ bytes: bytes.subarray(0, 2) });
export async function* count(to) { for (let n = 0; n < to; n += 1) yield n; }
export const pid = () => process.pid;
export const fail = () => { throw Object.assign(new Error('no sk-canary-0123456789 today'), { kind: 'server', status: 500, deep: {}, told: 'sk-canary-0123456789' }); };
export const wait = (_, { signal }) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));
`,
};

const faultOf = async (asked: Promise<unknown>): Promise<WritError> => {
  const thrown = await asked.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (fault: unknown) => fault,
  );
  if (!isWritError(thrown, 'PLUGIN_PROCESS_FAULT')) throw thrown;
  return thrown;
};

for (const sandbox of [undefined, unshareSandbox()])
  t.test(`a plugin process answers calls and streams (${sandbox?.name ?? 'bubblewrap'})`, async (t) => {
    const plugin = openProcess(t, honest, sandbox ? { sandbox } : {});
    t.strictSame(await plugin.ask(call('echo', { a: [1, 'é', null] })), { a: [1, 'é', null] });
    t.equal(await plugin.ask(call('sizeOf', Buffer.alloc(100_000))), 100_000, 'bytes arrive as bytes');
    t.strictSame(
      await plugin.ask(call('half', Buffer.from('abcd'))),
      { bytes: 'YWI=' },
      'and leave in base64',
    );
    const answers = await Promise.all([1, 2, 3].map((n) => plugin.ask(call('echo', n))));
    t.strictSame(answers, [1, 2, 3], 'calls go on side by side');
    const parts: unknown[] = [];
    for await (const part of plugin.stream(call('count', 4))) parts.push(part);
    t.strictSame(parts, [0, 1, 2, 3]);
  });

t.test('an error thrown in a plugin keeps its fields and masks secrets', async (t) => {
  const plugin = openProcess(t, honest);
  const asked = { ...call('fail'), secrets: ['sk-canary-0123456789'] };
  const fault = await faultOf(plugin.ask(asked));
  t.match(fault, {
    detail: { plugin: 'sample', reason: 'threw', said: { kind: 'server', status: 500, told: '[secret]' } },
  });
  t.match(fault.message, /no \[secret\] today/);
  t.equal(await plugin.ask(call('echo', 1)), 1, 'its process goes on');
});

t.test('an error in plugin code names its file and line, or the module', async (t) => {
  const plugin = openProcess(t, {
    'files/main.js': "\nexport const echo = (v) => v;\nexport const slip = () => { throw new Error('no'); };",
    'files/broken.js': 'throw error here;',
  });
  t.match((await faultOf(plugin.ask(call('slip', 1)))).message, /\(threw\): no \(main\.js:3\)$/);
  const broken = await faultOf(plugin.ask({ ...call('echo', 1), module: 'broken.js' }));
  t.match(broken.message, /Unexpected identifier.* \(broken\.js, or what it imports\)$/);
});

t.test('the caller can abort a call or a stream, and the process keeps running', async (t) => {
  const plugin = openProcess(t, honest);
  t.equal(await plugin.ask(call('echo', 1)), 1);
  const stop = new AbortController();
  const asked = plugin.ask(call('wait', 0), stop.signal);
  stop.abort(new Error('stopped'));
  await t.rejects(asked, { message: 'stopped' });
  const first = await plugin.ask(call('pid', 0));
  for await (const part of plugin.stream(call('count', 100_000))) if (part === 2) break;
  t.equal(await plugin.ask(call('pid', 0)), first, 'one process for all of it');
});

t.test('an ended process is restarted for the next call, and a closed one is not', async (t) => {
  const plugin = openProcess(t, {
    'files/main.js': 'export const echo = (v) => v; export const die = () => process.exit(3);',
  });
  t.match(await faultOf(plugin.ask(call('die', 1))), {
    message: /exit code 3/,
    detail: { reason: 'crashed' },
  });
  t.equal(await plugin.ask(call('echo', 7)), 7);
  await plugin.close();
  t.match(await faultOf(plugin.ask(call('echo', 7))), { detail: { reason: 'closed' } });
});

t.test('a plugin does not run without a sandbox', async (t) => {
  t.throws(() => openProcess(t, honest, { sandbox: noSandbox() }), { code: 'SANDBOX_UNAVAILABLE' });
});

const write = (text: string) => `(await import('node:fs')).writeSync(1, ${text})`;
const hostile: Readonly<Record<string, readonly [body: string, reason: string]>> = {
  'hangs for ever': ['for (;;);', 'deadline'],
  'never answers': ['await new Promise(() => setInterval(() => {}, 1000));', 'deadline'],
  'ends its process': ['process.exit(0);', 'crashed'],
  'kills its process': ["process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});", 'crashed'],
  'runs out of memory': ['const all = []; for (;;) all.push(new Array(1e6).fill({}));', 'crashed'],
  'fails beside its answer': [
    "setImmediate(() => { throw new Error('beside'); }); await new Promise(() => {});",
    'crashed',
  ],
  'answers with more than it may': ["return 'x'.repeat(2 * 1024 * 1024);", 'flood'],
  'writes words of its own': [`${write("'hello\\n'")}; await new Promise(() => {});`, 'garbage'],
  'answers calls that nobody made': [
    `${write('\'{"id":999,"done":1}\\n\'')}; await new Promise(() => {});`,
    'garbage',
  ],
  'answers with a prototype': [
    `${write('\'{"id":1,"done":{"a":{"__proto__":{"polluted":1}}}}\\n\'')}; await new Promise(() => {});`,
    'garbage',
  ],
  'names a prototype in disguise': [
    `${write('\'{"id":1,"\\\\u005f_proto__":{"polluted":1},"done":1}\\n\'')}; await new Promise(() => {});`,
    'garbage',
  ],
  'nests beyond all measure': [
    `${write('\'{"id":1,"done":\' + "[".repeat(5000) + "]".repeat(5000) + "}\\n"')}; await new Promise(() => {});`,
    'garbage',
  ],
  'says a key twice': [
    `${write('\'{"id":1,"id":1,"done":1}\\n\'')}; await new Promise(() => {});`,
    'garbage',
  ],
};

for (const [what, [body, reason]] of casesOf(hostile, [
  'hangs for ever',
  'ends its process',
  'answers with more than it may',
  'answers calls that nobody made',
  'answers with a prototype',
]))
  t.test(`a plugin that ${what} fails with a fault that names the plugin`, async (t) => {
    const plugin = openProcess(t, { 'files/main.js': `export const act = async () => { ${body} };` });
    const asked = plugin.ask({
      ...call('act', 1),
      withinMs: reason === 'deadline' ? 1500 : 30_000,
      idleMs: 30_000,
    });
    const fault = await faultOf(asked);
    t.match(fault.detail, { plugin: 'sample', reason }, fault.message);
    t.ok(fault.message.length < 1500);
    t.notOk('polluted' in {}, 'no prototype of ours was changed');
  });

t.test('a plugin that writes an endless line fails with a flood fault', async (t) => {
  const body = `for (;;) ${write("'x'.repeat(60_000)")};`;
  const plugin = openProcess(t, { 'files/main.js': `export const act = async () => { ${body} };` });
  const fault = await faultOf(plugin.ask({ ...call('act', 1), maxBytes: 64 * 1024 * 1024 }));
  t.match(fault, { message: /lines of at most/, detail: { plugin: 'sample', reason: 'flood' } });
});

t.test('a plugin that answers twice is ended, and its other calls fail', async (t) => {
  const twice = write('\'{"id":2,"done":1}\\n{"id":2,"done":2}\\n\'');
  const plugin = openProcess(t, {
    'files/main.js': `export const act = async () => { ${twice}; }; export const wait = () => new Promise(() => {});`,
  });
  const beside = faultOf(plugin.ask(call('wait', 1)));
  t.equal(await plugin.ask(call('act', 1)), 1, 'the first counts');
  t.match((await beside).detail, { reason: 'garbage' });
});

t.test('a plugin that does not end a cancelled call is ended', async (t) => {
  const plugin = openProcess(t, {
    'files/main.js': 'export const act = () => new Promise(() => {}); export const pid = () => process.pid;',
  });
  const stop = new AbortController();
  const asked = plugin.ask(call('act', 1), stop.signal);
  stop.abort(new Error('stopped'));
  await t.rejects(asked, { message: 'stopped' });
  t.match(await faultOf(plugin.ask(call('act', 1))), {
    detail: { reason: 'deadline' },
    message: /did not end a call that was cancelled/,
  });
});

t.test('a plugin cannot read, write, connect or start a process outside its sandbox', async (t) => {
  const mark = join(t.testdir({ secret: 'canary-of-the-host' }), 'secret');
  const plugin = openProcess(t, {
    'files/main.js': `
import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const tried = async (act) => { try { return String(await act()); } catch (fault) { return 'refused'; } };
export const act = async (path) => Promise.all([
  tried(() => readFileSync(path, 'utf8')),
  tried(() => readFileSync('/etc/hostname', 'utf8')),
  tried(() => readFileSync('/proc/self/environ', 'utf8')),
  tried(() => writeFileSync('/workspace/x', 'x')),
  tried(() => writeFileSync('/tmp/x', 'x')),
  tried(() => spawnSync('true').status),
  tried(() => fetch('http://127.0.0.1:1/').then(() => 'reached')),
  tried(() => fetch('http://example.com/').then(() => 'reached')),
  tried(() => readFileSync('/workspace/main.js', 'utf8').length > 10),
]);`,
  });
  const found = await plugin.ask({ ...call('act', mark), ...quick });
  t.strictSame(found, [...Array(8).fill('refused'), 'true']);
  t.ok(existsSync(mark));
});
