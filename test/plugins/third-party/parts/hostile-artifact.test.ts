import t, { type Test } from 'tap';
import type { Produced } from '../../../../core/interfaces/artifact.ts';
import { requestOfCase } from '../../../../plugins/testers/artifact-tester.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { casesOf } from '../../../rooms/long.ts';
import { handed, openOutsider } from './open-outsider.ts';

t.setTimeout(240_000);

interface Setting {
  readonly contentType?: string;
  readonly reads?: readonly string[];
  readonly files?: Readonly<Record<string, { readonly candidate: string | Uint8Array }>>;
  readonly port?: number;
  readonly signal?: AbortSignal;
  readonly before?: string;
  readonly withinSeconds?: number;
}

/** What comes of a producer whose `produce` is this. */
async function produce(t: Test, body: string, setting: Setting = {}): Promise<Produced> {
  const {
    contentType = 'application/json',
    reads = [],
    files = {},
    port,
    signal,
    before = '',
    withinSeconds = 60,
  } = setting;
  const artifact = {
    name: 'sly',
    module: './sly.js',
    contentType,
    extension: 'bin',
    reads,
    timeoutSeconds: withinSeconds,
  };
  const text = `${before}\nexport async function produce(order, context) { ${body} }`;
  const parts = await openOutsider(t, { artifacts: [artifact] }, text, port);
  const producer = parts.artifacts.get('sly');
  if (producer === undefined) throw new Error('no producer');
  t.equal(producer.plugin, 'sly');
  return producer.produce({ ...requestOfCase('sly', { files }), ...(signal ? { signal } : {}) });
}

const nothing: Readonly<Record<string, readonly [body: string, contentType?: string]>> = {
  'answers nothing': ['return undefined;'],
  'answers text alone': ["return 'x';"],
  'answers a list': ["return [{ text: 'x' }];"],
  'answers in two ways': ["return { text: '{}', json: {} };"],
  'adds what it was not asked': ["return { text: '1', contentType: 'text/html' };"],
  'says that it is the engine’s': ["return { json: 1, checkId: 'unit', plugin: 'engine' };"],
  'makes nothing of it': ["return { text: '' };", 'text/plain'],
  'makes text of what is none': ['return { bytes: Buffer.from([0xff, 0xfe]) };', 'text/plain'],
  'makes half a character': ["return { text: '\\ud800' };", 'text/plain'],
  'makes JSON that is none': ['return { text: \'{"a":1\' };'],
  'makes JSON that two readers read differently': ['return { text: \'{"a":1,"a":2}\' };'],
  'gives octets that are none': ["return { bytes: 'not base64!' };", 'application/octet-stream'],
  'makes more than it may': ['return { bytes: Buffer.alloc(9_000_000, 65) };', 'text/plain'],
  'floods the line': ["return { text: 'x'.repeat(30_000_000) };", 'text/plain'],
  'answers in pieces': ['return (async function* () { yield { json: 1 }; })();'],
  'sends a prototype': ['return { json: JSON.parse(\'{"a":{"__proto__":{"polluted":1}}}\') };'],
  'gives no reason': ['return { unmade: 5 };'],
  'gives a reason without end': ["return { unmade: 'x'.repeat(2000) };"],
  throws: ["throw new Error('no');"],
  'throws nothing': ['throw null;'],
  crashes: ['process.exit(0);'],
  'does not end': ['for (;;);'],
  'never answers': ['await new Promise(() => setInterval(() => {}, 1000));'],
  'takes all memory': ['const all = []; for (;;) all.push(new Array(1e6).fill(all.length));'],
};

for (const [what, [body, contentType]] of casesOf(nothing, [
  'makes JSON that is none',
  'makes more than it may',
  'answers in two ways',
  'crashes',
  'does not end',
]))
  t.test(`a producer that ${what} yields no artifact`, async (t) => {
    const withinSeconds = /does not|never/.test(what) ? 1 : 60;
    const made = await produce(t, body, {
      withinSeconds,
      ...(contentType === undefined ? {} : { contentType }),
    });
    t.notOk(made instanceof Uint8Array, 'it made something');
    t.match(made, { unmade: /plugin `sly`/ });
    t.notOk('polluted' in {});
  });

t.test('a producer can return text, bytes or JSON', async (t) => {
  const text = async (body: string, contentType: string) => {
    const made = await produce(t, body, { contentType });
    return made instanceof Uint8Array ? Buffer.from(made).toString('latin1') : made;
  };
  t.equal(await text("return { text: 'h\\u00e9' };", 'text/markdown; charset=utf-8'), 'h\u00c3\u00a9');
  t.equal(await text('return { bytes: Buffer.from([0, 255]) };', 'application/octet-stream'), '\u0000\u00ff');
  t.equal(
    await text('return { json: { a: [1] } };', 'application/sarif+json'),
    '{\n  "a": [\n    1\n  ]\n}\n',
  );
});

t.test('the reason of a producer is reported with its secrets masked', async (t) => {
  for (const body of [
    "return { unmade: 'no: ' + context.secrets.SLY_TOKEN };",
    "throw new Error('no: ' + context.secrets.SLY_TOKEN);",
  ]) {
    const made = await produce(t, body);
    t.match(made, { unmade: /no: / });
    t.notMatch(JSON.stringify(made), /canary/);
  }
});

t.test('a producer receives the patch and the files it declares, and nothing else', async (t) => {
  const files = {
    'src/a.js': { candidate: 'a();\n' },
    'src/b.bin': { candidate: Buffer.from([0, 200]) },
    'other.txt': { candidate: 'x' },
  };
  const made = await produce(
    t,
    `const { signal, ...told } = context;
     const { spec, stages, patch, files, ...rest } = order;
     const bytes = Object.entries(files).map(([path, content]) => [path, content instanceof Uint8Array, content.toString('hex')]);
     return { json: { told, rest, bytes, diff: patch.diff.toString('utf8').slice(0, 10), summary: spec.intent.summary, env: process.env } };`,
    { files, reads: ['src/**'] },
  );
  const told = JSON.parse(Buffer.from(made as Uint8Array).toString('utf8'));
  t.strictSame(told.told, {
    options: {},
    secrets: { SLY_TOKEN: handed.token },
    files: { '~/sly.txt': handed.file },
  });
  t.strictSame(told.rest, { name: 'sly', format: '', baseTimeMs: 1767355200000, engineVersion: '0.0.0' });
  t.strictSame(told.bytes, [
    ['src/a.js', true, Buffer.from('a();\n').toString('hex')],
    ['src/b.bin', true, '00c8'],
  ]);
  t.equal(told.diff, 'diff --git');
  t.notMatch(JSON.stringify(told.env), /canary|SLY/);
});

t.test('a file named `__proto__` is handed over as an ordinary file', async (t) => {
  const files = Object.fromEntries([['__proto__', { candidate: 'x' }]]);
  const made = await produce(
    t,
    "return { json: [Object.keys(order.files), 'x' in {}, Object.entries(order.files)[0][1].toString('utf8')] };",
    { files, reads: ['**'] },
  );
  t.strictSame(JSON.parse(Buffer.from(made as Uint8Array).toString('utf8')), [['__proto__'], false, 'x']);
});

t.test('files over the size limit are the reported reason for a missing artifact', async (t) => {
  const files = { big: { candidate: Buffer.alloc(9 * 1024 * 1024, 65) } };
  const made = await produce(t, 'return { json: 1 };', { files, reads: ['**'] });
  t.match(made, { unmade: /plugin `sly`.*`reads` hold more than/ });
});

t.test('an aborted producer call rejects, and a late answer is ignored', async (t) => {
  const stop = new AbortController();
  const asked = produce(
    t,
    "await new Promise((late) => context.signal.addEventListener('abort', () => setTimeout(late, 200))); return { json: 'late' };",
    { signal: stop.signal },
  );
  setImmediate(() => stop.abort(new Error('stopped')));
  await t.rejects(asked, { message: 'stopped' });
});

t.test('a producer reaches only its declared hosts and reads no file of the machine', async (t) => {
  await using server = await serveModel((response) => {
    response.end('here');
  });
  const urls = [
    'http://own.example/',
    'http://other.example/',
    'http://127.0.0.1/',
    'http://169.254.169.254/',
  ];
  const tried = (url: string) =>
    `await fetch('${url}').then(async (r) => r.status + ' ' + (await r.text()).trim()).catch(() => 'refused')`;
  const read = (path: string) => `await readFile('${path}', 'utf8').catch((fault) => fault.code)`;
  const made = await produce(
    t,
    `return { json: { urls: [${urls.map(tried).join(', ')}], files: [${['/etc/passwd', '/proc/1/environ'].map(read).join(', ')}] } };`,
    { port: server.port, before: "import { readFile } from 'node:fs/promises';" },
  );
  const told = JSON.parse(Buffer.from(made as Uint8Array).toString('utf8'));
  const [own, ...others] = told.urls;
  t.equal(own, '200 here');
  for (const other of others) t.notMatch(other, /here/);
  for (const file of told.files) t.match(file, /^E[A-Z_]+$/);
  t.equal(server.asked.length, 1);
});
