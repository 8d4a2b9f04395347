import t, { type Test } from 'tap';
import { openOutsider } from './open-outsider.ts';

t.setTimeout(240_000);

const hash = `'${Buffer.alloc(32, 5).toString('base64')}'`;
/** What a plugin may answer where a consistency proof is asked for; each by its place in the list. */
const answers: readonly (readonly [what: string, body: string, found: RegExp])[] = [
  ['nothing', 'return undefined;', /expected a consistency proof/],
  ['a list alone', `return [${hash}];`, /expected a consistency proof/],
  ['no list', `return { hashes: ${hash} };`, /expected a list/],
  ['fields of its own', `return { hashes: [], verified: true };`, /unknown field `verified`/],
  ['a hash too short', "return { hashes: ['AAAA'] };", /32 octets/],
  ['hexadecimal', "return { hashes: ['05'.repeat(32)] };", /32 octets.*hexadecimal/],
  ['a number', 'return { hashes: [7] };', /expected `hashes` to be text/],
  ['more than any tree needs', `return { hashes: Array(64).fill(${hash}) };`, /at most 63/],
  [
    'a prototype',
    'return JSON.parse(\'{"__proto__":{"hashes":[]}}\');',
    /__proto__|consistency proof|unknown/,
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a plugin
  ['its secret', 'throw new Error(`no: ${context.secrets.SLY_TOKEN}`);', /no: /],
  ['more than a line', "return { hashes: ['x'.repeat(30_000_000)] };", /plugin `sly`/],
];
const body = answers.map(([, text], n) => `if (from === ${n + 1}) { ${text} }`).join('\n');
const sly = `export async function append() {}\nexport async function size() { return 1; }
export async function consistency(from, to, context) { ${body}\n return { hashes: [${hash}, Buffer.alloc(32, from + to)] }; }`;

async function open(test: Test, declared: object) {
  const parts = await openOutsider(test, { logs: [{ name: 'sly', module: './sly.js', ...declared }] }, sly);
  const log = parts.logs.get('sly');
  if (log === undefined) throw new Error('no log');
  return log;
}

t.test('a consistency proof of a plugin log must be well formed, and errors mask secrets', async (t) => {
  const log = await open(t, { consistency: true });
  const sound = await log.consistency?.(100, 7);
  t.strictSame(sound, { hashes: [Buffer.alloc(32, 5), Buffer.alloc(32, 107)] });
  for (const [n, [what, , found]] of answers.entries()) {
    const fault: unknown = await Promise.resolve(log.consistency?.(n + 1, 7)).catch(
      (thrown: unknown) => thrown,
    );
    t.match(fault, { message: found }, what);
    t.notMatch(String(fault), /canary/, what);
  }
});

t.test('a plugin log has a consistency proof only if its manifest declares it', async (t) => {
  t.equal((await open(t, {})).consistency, undefined);
  await t.rejects(open(t, { consistency: 'yes' }), {
    code: 'PLUGIN_INVALID',
    message: /`consistency` to be true or false/,
  });
});
