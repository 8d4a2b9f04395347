import t, { type Test } from 'tap';
import type { EvidenceSource } from '../../../../core/interfaces/privacy.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { casesOf } from '../../../rooms/long.ts';
import { openOutsider } from './open-outsider.ts';

t.setTimeout(240_000);

const source: EvidenceSource = { name: 'src/a.js', trustTier: 'repo', isAllowedHost: false };

/** A policy whose `judge` is this. */
async function open(t: Test, body: string, { withinSeconds = 60, port = 1 } = {}) {
  const evidence = { name: 'sly', module: './sly.js', refusesRetrieval: true, timeoutSeconds: withinSeconds };
  const text = `let calls = 0;
export async function judge(source, context) { calls += 1; ${body} }
export async function refuseRetrieval(soFar, context) { ${body} }`;
  const parts = await openOutsider(t, { evidence: [evidence] }, text, port);
  const policy = parts.evidence.get('sly');
  if (policy === undefined) throw new Error('no policy');
  return policy;
}

const silences: Readonly<Record<string, string>> = {
  'answers yes': 'return true;',
  'answers words': "return 'let it in';",
  'raises a tier': "return { trustTier: 'standards' };",
  'adds sources': "return [{ name: 'b.js', trustTier: 'repo' }];",
  'refuses and ranks': "return { refuse: 'no', order: 1 };",
  'refuses without a reason': "return { refuse: '' };",
  'refuses without end': "return { refuse: 'x'.repeat(1000) };",
  'ranks before all': 'return { order: -1 };',
  'ranks by half': 'return { order: 0.5 };',
  'ranks beyond all': 'return { order: 1e9 };',
  'answers in pieces': 'return (async function* () { yield null; })();',
  'sends a prototype': 'return JSON.parse(\'{"order":1,"__proto__":{"polluted":1}}\');',
  floods: "return { refuse: 'x'.repeat(20_000_000) };",
  throws: "throw new Error('no');",
  'throws nothing': 'throw null;',
  crashes: 'process.exit(0);',
  'does not end': 'for (;;);',
  'never answers': 'await new Promise(() => setInterval(() => {}, 1000));',
};

for (const [what, body] of casesOf(silences, ['ranks beyond all', 'throws', 'crashes', 'does not end']))
  t.test(`an evidence policy that ${what} fails the call and all later calls`, async (t) => {
    const policy = await open(t, body, { withinSeconds: /does not|never/.test(what) ? 1 : 60 });
    const silent = { code: 'PLUGIN_PROCESS_FAULT', detail: { plugin: 'sly' } };
    await t.rejects(policy.refuse(source), silent);
    t.throws(() => policy.requireSound(), silent);
    await t.rejects(policy.refuse({ ...source, name: 'src/b.js' }), silent);
    await t.rejects(policy.refuseRetrieval({ repositoryUses: 9 }), silent);
    t.notOk('polluted' in {});
  });

t.test(
  'an evidence policy can refuse sources and order them within a tier, but not change tiers',
  async (t) => {
    const policy = await open(
      t,
      "return source.name === 'src/a.js' ? { order: 7 } : { refuse: 'not `this`' };",
    );
    t.equal(await policy.refuse(source), undefined);
    t.equal(await policy.order(source), 7);
    t.equal(await policy.refuse({ ...source, name: 'src/b.js' }), 'plugin `sly`: not `this`');
    t.strictSame(policy.rank(['web', 'repo']), ['web', 'repo']);
  },
);

t.test('the verdict on a source is kept for later calls', async (t) => {
  const policy = await open(t, "return calls > 1 ? undefined : { refuse: 'no' };");
  for (const _ of [1, 2, 3]) t.match(await policy.refuse(source), /no/);
});

t.test('the reason of an evidence policy is reported with its secrets masked', async (t) => {
  const policy = await open(t, "return { refuse: 'no: ' + context.secrets.SLY_TOKEN };");
  const why = await policy.refuse(source);
  t.match(why, /no: /);
  t.notMatch(why, /canary/);
});

t.test(
  'an evidence policy receives a source and its declared data, and reaches only its hosts',
  async (t) => {
    await using server = await serveModel((response) => {
      response.end('here');
    });
    const tried = (url: string) =>
      `await fetch('${url}').then(async (r) => (await r.text()).trim()).catch(() => 'refused')`;
    const body = `const { signal, ...told } = context;
    return { refuse: JSON.stringify([source, told, ${tried('http://own.example/')}, ${tried('http://other.example/')}, Object.keys(process.env).join()]).replaceAll('"', "'").slice(0, 490) };`;
    const policy = await open(t, body, { port: server.port });
    const url = 'https://a.example/x';
    const why = await policy.refuse({ name: url, url, trustTier: 'web', isAllowedHost: true });
    t.match(why, `{'name':'${url}','trustTier':'web','isAllowedHost':true,'url':'${url}'}`);
    t.match(why, "'files':{'~/sly.txt':'[secret]'}", 'what it was handed, as a reason may tell it');
    t.match(why, "'here','refused'");
    t.notMatch(why, /SLY_OTHER|HOME/);
  },
);

t.test('an aborted policy call rejects without marking the policy as failed', async (t) => {
  const policy = await open(
    t,
    "await new Promise((late) => context.signal.addEventListener('abort', () => setTimeout(late, 100)));",
  );
  const stop = new AbortController();
  const asked = policy.refuse(source, stop.signal);
  setImmediate(() => stop.abort(new Error('stopped')));
  await t.rejects(asked, { message: 'stopped' });
  policy.requireSound();
});
