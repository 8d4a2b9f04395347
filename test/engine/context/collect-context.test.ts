import t, { type Test } from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { PluginHooks } from '../../../core/kernel/hooks.ts';
import { collectContext } from '../../../engine/context/collect-context.ts';
import { sealObject } from '../../../store/stored-object.ts';
import type { Json } from '../sample.ts';
import { contractWith, hooksWith, strategyOf } from './sample-contract.ts';
import { sampleTree } from './sample-tree.ts';

const runId = '01980000-0000-7000-8000-000000000000';
const openapi = JSON.stringify({
  openapi: '3.1.0',
  servers: [{ url: 'https://api.example.com' }, { url: 'https://blocked.example.org' }],
  paths: { '/users': { get: {} } },
});
const files = {
  'src/a.ts': `import './b.js';\nexport function start() {\n  return 1;\n}\n`,
  'src/b.ts': 'export const token = "hunter2";\n',
  'cmd/x.go': 'package main\n',
  'openapi.json': openapi,
};
const touchHints = { files: ['src/a.ts', 'cmd/x.go'], symbols: ['start'], apis: ['/users'] };
const evidence = {
  trustTiers: ['repo', 'vendor-doc', 'web'],
  domainAllowlistMode: 'allowlist-only',
  allowedDomains: ['api.example.com'],
};

async function taken(
  t: Test,
  more: { readonly [key: string]: Json } = {},
  tap?: (hooks: PluginHooks) => void,
) {
  const { objects, tree } = await sampleTree(t, files);
  const spec = contractWith({ intent: { touchHints }, evidence, ...more });
  const strategy = await strategyOf(spec);
  return { tree, ...(await collectContext({ objects, tree, spec, strategy, hooks: hooksWith(tap), runId })) };
}

t.test(
  'hints become File, Snippet and Url items with digest and trust tier, most trusted first',
  async (t) => {
    const { snapshot, tree } = await taken(t);
    t.strictSame(
      snapshot?.items.map(({ kind, name, trust_tier, selected_by }) => [kind, name, trust_tier, selected_by]),
      [
        ['File', 'cmd/x.go', 'repo', 'hint'],
        ['File', 'src/a.ts', 'repo', 'hint'],
        ['Snippet', 'src/a.ts#L2-L4', 'repo', 'symbol'],
        ['File', 'src/b.ts', 'repo', 'one-hop'],
        ['Url', 'https://api.example.com/users', 'vendor-doc', 'api'],
      ],
    );
    t.equal(snapshot?.items[1]?.sha256, sha256Hex(files['src/a.ts']));
    t.equal(snapshot?.items[2]?.sha256, sha256Hex('export function start() {\n  return 1;\n}\n'));
    t.match(snapshot?.items[2], { line_from: 2, line_to: 4, tags: { symbol: 'start', trust_tier: 'repo' } });
    t.match(snapshot?.items[4], { trust: 'untrusted', tags: { trust: 'untrusted', api: '/users' } });
    t.match(snapshot, {
      run: runId,
      base_tree: tree,
      strategy: 'repo-first',
      trust_tiers: evidence.trustTiers,
    });
    t.strictSame(snapshot?.not_expanded, ['go: 1 files, no import graph']);
    t.strictSame(snapshot?.unresolved, []);
  },
);

t.test('a Url item that the domain rules refuse is rejected with a reason and not used', async (t) => {
  const seen: string[] = [];
  const watch = ({ frame }: PluginHooks) =>
    frame.admit.tap(({ name }) => {
      seen.push(name);
      return undefined;
    });
  const { snapshot, blobs, dependencies } = await taken(t, {}, watch);
  const url = 'https://blocked.example.org/users';
  t.match(snapshot?.rejected, [{ kind: 'Url', name: url, reason: 'not-allowed-domain' }]);
  t.notOk(seen.includes(url));
  t.notOk(dependencies.some(({ uri }) => uri === url));
  t.equal(blobs.length, 2);
  const open = await taken(t, { evidence: { ...evidence, domainAllowlistMode: 'disabled' } });
  t.match(open.snapshot?.items.at(-1), { name: url, trust_tier: 'web' });
  const denied = await taken(t, {
    evidence: { ...evidence, domainAllowlistMode: 'disabled', blockedDomains: ['*.example.org'] },
  });
  t.match(denied.snapshot?.rejected, [{ name: url, reason: 'blocked-domain' }]);
});

t.test('`trustTiers` orders the items and drops tiers that are not listed', async (t) => {
  const { snapshot } = await taken(t, {
    evidence: { ...evidence, strategy: 'open-web', trustTiers: ['vendor-doc', 'repo'] },
  });
  t.equal(snapshot?.items[0]?.kind, 'Url');
  t.equal(snapshot?.items.length, 5);
  const only = await taken(t, { evidence: { ...evidence, trustTiers: ['vendor-doc'] } });
  t.strictSame(
    only.snapshot?.items.map(({ kind }) => kind),
    ['Url'],
  );
  t.equal(only.snapshot?.rejected?.filter(({ reason }) => reason === 'unlisted-tier').length, 4);
});

t.test(
  '`strategy` prefers the repository, admits only official hosts, or follows `trustTiers`',
  async (t) => {
    const wide = { ...evidence, domainAllowlistMode: 'disabled', trustTiers: ['web', 'vendor-doc', 'repo'] };
    const under = async (strategy: string) => {
      const { snapshot } = await taken(t, { evidence: { ...wide, strategy } });
      return {
        tiers: [...new Set(snapshot?.items.map(({ trust_tier }) => trust_tier))],
        rejected: snapshot?.rejected?.map(({ name, reason }) => [name, reason]),
        strategy: snapshot?.strategy,
      };
    };
    t.strictSame(
      await under('repo-first'),
      { tiers: ['repo', 'web', 'vendor-doc'], rejected: [], strategy: 'repo-first' },
      'repo-first',
    );
    t.strictSame(
      await under('pinned-official'),
      {
        tiers: ['vendor-doc', 'repo'],
        rejected: [['https://blocked.example.org/users', 'strategy']],
        strategy: 'pinned-official',
      },
      'pinned-official',
    );
    t.strictSame(
      await under('open-web'),
      { tiers: ['web', 'vendor-doc', 'repo'], rejected: [], strategy: 'open-web' },
      'open-web',
    );
  },
);

t.test('two hints for the same snippet give one item, tagged with the first hint', async (t) => {
  const symbols = ['start', 'src/a.ts#start'];
  const { snapshot } = await taken(t, { intent: { touchHints: { ...touchHints, symbols } } });
  t.match(
    snapshot?.items.filter(({ kind }) => kind === 'Snippet'),
    [{ tags: { symbol: 'start' } }],
  );
  t.equal(snapshot?.items.length, 5);
});

t.test('lists one dependency with uri and digest for each item', async (t) => {
  const { snapshot, dependencies, tree } = await taken(t);
  t.strictSame(
    dependencies,
    snapshot?.items.map(({ name, uri, sha256 }) => ({ name, uri, digest: { sha256 } })),
  );
  t.equal(dependencies[1]?.uri, `urn:writ:tree:${tree}:src/a.ts`);
  t.ok(dependencies.every(({ uri = '' }) => URL.canParse(uri)));
});

t.test('Snippet and Url content is returned as blobs by digest, after redaction', async (t) => {
  const redact = ({ frame }: PluginHooks) =>
    frame.redact.tap((entry) =>
      entry.kind === 'Snippet' ? { ...entry, bytes: Buffer.from('redacted') } : entry,
    );
  const { snapshot, blobs } = await taken(t, {}, redact);
  const content = new Map(blobs);
  for (const [name, bytes] of blobs) t.equal(name, sha256Hex(bytes));
  const [snippet, url] = [snapshot?.items[2], snapshot?.items[4]];
  t.equal(Buffer.from(content.get(snippet?.sha256 ?? '') ?? []).toString(), 'redacted');
  t.match(JSON.parse(Buffer.from(content.get(url?.sha256 ?? '') ?? []).toString()), { '/users': {} });
  t.equal(blobs.length, 2);
});

t.test('a redactor cannot change a File item, but a guard can refuse it', async (t) => {
  const { snapshot } = await taken(t, {}, ({ frame }) => {
    frame.redact.tap((entry) => ({ ...entry, bytes: Buffer.from('forged') }));
    frame.admit.tap(({ form, bytes }) =>
      form === 'item' && Buffer.from(bytes).includes('hunter2') ? { message: 'a secret' } : undefined,
    );
  });
  t.equal(snapshot?.items.find(({ name }) => name === 'src/a.ts')?.sha256, sha256Hex(files['src/a.ts']));
  t.match(
    snapshot?.rejected?.find(({ name }) => name === 'src/b.ts'),
    { reason: 'refused', message: 'p: a secret' },
  );
});

t.test('without `snapshotOnRunStart` there is a seed frame and no snapshot', async (t) => {
  const objmodel = { runPolicy: { snapshotOnRunStart: false } };
  const { snapshot, blobs, dependencies, frames } = await taken(t, { objmodel });
  t.strictSame({ snapshot, blobs, dependencies }, { snapshot: undefined, blobs: [], dependencies: [] });
  t.equal(frames.size, 1);
});

t.test('the same tree and spec give the same snapshot, which can be stored', async (t) => {
  const first = await taken(t);
  const second = await taken(t);
  t.strictSame(second.snapshot, first.snapshot);
  t.ok(first.snapshot);
  if (!first.snapshot) return;
  const options = { nowMs: 1_764_000_000_000, createdBy: { kind: 'system', id: 'x' } } as const;
  const { object } = sealObject('context_snapshot', first.snapshot, options);
  t.equal(object.items.length, 5);
  t.equal(
    object.total_bytes,
    object.items.reduce((sum, { size_bytes = 0 }) => sum + size_bytes, 0),
  );
});
