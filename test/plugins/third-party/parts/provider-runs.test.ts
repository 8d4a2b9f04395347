import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { formatModelChoice } from '../../../../agent/instructions.ts';
import { coderWorker } from '../../../../agent/plugin.ts';
import { confirmIntent } from '../../../../api/intent/lifecycle.ts';
import { reachProvider } from '../../../../bin/command-parts/reach-provider.ts';
import { providerScaffold } from '../../../../bin/plugin/maker-scaffolds.ts';
import { systemClock } from '../../../../core/base/clock.ts';
import { uuidV7 } from '../../../../core/base/ids.ts';
import { draftIntent } from '../../../../engine/draft/draft-intent.ts';
import { serveModel } from '../../../../plugins/testers/provider-tester.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { type Outside, realOutside } from '../../../../workspace/egress/outside.ts';
import { priceDraft } from '../../../agent/planner/drafts.ts';
import { makeSample } from '../../../engine/sample.ts';
import { long } from '../../../rooms/long.ts';
import { handing } from './handing.ts';

t.setTimeout(240_000);

const key = 'sk-parrot-0123456789';
const fix = `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
   assert.ok(price(0, 100) < 2);
 });
+
+test('two cost twice as much as one', () => {
+  assert.equal(price(2, 100), 200);
+});
*** End Patch`;
const script = [
  { name: 'apply_patch', arguments: JSON.stringify({ patch: fix }) },
  { name: 'submit_task_complete', arguments: JSON.stringify({ complete: true, summary: 'exact' }) },
];
const security = {
  toolAcl: {
    allow: [
      { tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} },
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: { allowCommands: ['node', 'echo', 'cat'] },
      },
    ],
  },
};
const from = (apiBase?: string) =>
  formatModelChoice({ provider: 'parrot', ...(apiBase === undefined ? {} : { apiBase }), flags: {} });

async function scene(options = '') {
  const sample = makeSample();
  for (const [path, text] of providerScaffold('parrot')) {
    const plain = text.replaceAll('https://api.parrot.example', 'http://127.0.0.1');
    mkdirSync(dirname(join(sample.root, 'tools/parrot', path)), { recursive: true });
    writeFileSync(join(sample.root, 'tools/parrot', path), path === 'package.json' ? text : plain);
  }
  const parrot = await readDirectory(join(sample.root, 'tools/parrot'));
  mkdirSync(join(sample.root, '.writ'));
  const entry = `[[plugins]]\npath = "tools/parrot"\ndigest = "sha256:${parrot.digest}"\n${options}`;
  writeFileSync(join(sample.root, '.writ/config.toml'), entry);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A model backend');
  const pluginAccess = {
    trusts: async (digest: string) => digest === parrot.digest,
    find: async () => undefined,
    secret: handing({ PARROT_API_KEY: key }),
  };
  return {
    sample,
    parrot,
    pluginAccess,
    reach: reachProvider({ variable: () => undefined, keys: { environment: () => key } }),
  };
}

t.test(
  'a plugin provider does the work, reaches only its host and is listed in the provenance',
  async (t) => {
    const { sample, parrot, pluginAccess, reach } = await scene('options = { top_k = 4 }\n');
    t.teardown(() => sample.remove());
    let turn = 0;
    await using server = await serveModel((response) => {
      const call = script[turn];
      turn += 1;
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const lines = call
        ? [{ text: 'I act.' }, { call: { id: `c${turn}`, ...call } }, { end: 'calls' }]
        : [{ end: 'stop' }];
      response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
    const resolved: string[] = [];
    const outside: Outside = {
      resolve: async (host) => {
        resolved.push(host);
        return ['1.1.1.1'];
      },
      connect: () => realOutside.connect('127.0.0.1', server.port),
      ownAddresses: () => [],
    };
    const source = { kind: 'worker', worker: coderWorker, from: from() } as const;
    // The suite's server has no certificate: the same host, without TLS.
    const plainly: typeof reach = async (...asked) => ({
      ...(await reach(...asked)),
      base: 'http://api.parrot.example/v1',
    });
    const view = await sample.run({ source, reach: plainly, pluginAccess, outside }, { security });
    t.match(view, { decision: { type: 'commit' } }, JSON.stringify(view.decision));
    t.ok(sample.git('show', 'HEAD:src/price.js').includes('count * cents;'));
    t.strictSame([...new Set(resolved)], ['api.parrot.example']);
    t.match(server.asked[0], {
      path: '/v1/chat',
      headers: { authorization: `Bearer ${key}` },
      body: { model: 'parrot-1', top_k: 4 },
    });
    const bundle = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:provenance.sigstore.json`));
    const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8'));
    const { writ_model_work: models } = statement.predicate.buildDefinition.internalParameters;
    t.match(models, [
      { provider: 'parrot', model: 'parrot-1', endpoint: 'api.parrot.example', form: 'turn' },
    ]);
    t.equal(models[0].exchanges.length, script.length, 'traffic that is not seen counts by turns');
    const found = statement.predicate.buildDefinition.resolvedDependencies.find(
      ({ name }: { name: string }) => name === 'plugin/parrot',
    );
    t.match(found, { digest: { sha256: parrot.digest } });
    const connections = [{ host: 'api.parrot.example', port: 80, outcome: 'allowed', address: '1.1.1.1' }];
    t.match(statement.predicate.buildDefinition.internalParameters.writ_network, [
      { stage: 'plugin', check: 'parrot', opened: [{ hosts: ['api.parrot.example'] }], connections },
    ]);
  },
);

long('a plugin provider drafts the spec and then does its work', async (t) => {
  const { sample, pluginAccess, reach } = await scene('options = { top_k = 4 }\n');
  t.teardown(() => sample.remove());
  const calls = [{ name: 'submit_intent_draft', arguments: JSON.stringify(priceDraft) }, ...script];
  let turn = 0;
  await using server = await serveModel((response) => {
    const call = calls[turn];
    turn += 1;
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const lines = call ? [{ call: { id: `c${turn}`, ...call } }, { end: 'calls' }] : [{ end: 'stop' }];
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });
  const outside: Outside = {
    resolve: async () => ['1.1.1.1'],
    connect: () => realOutside.connect('127.0.0.1', server.port),
    ownAddresses: () => [],
  };
  const plainly: typeof reach = async (...asked) => ({
    ...(await reach(...asked)),
    base: 'http://api.parrot.example/v1',
  });
  const source = { kind: 'worker', worker: coderWorker, from: from() } as const;
  await using engine = await sample.engine();
  const asked = {
    repositoryPath: sample.root,
    runId: uuidV7(Date.now()),
    source,
    said: ['A price is one cent too high: make it exact.'],
    target: {
      createdBy: { type: 'user', id: 'ana@example.org' },
      repo: { type: 'local', locator: sample.root },
      baseRef: 'main',
    },
    createdAt: '2026-01-01T00:00:00Z',
    clock: systemClock,
    signal: new AbortController().signal,
    reach: plainly,
    pluginAccess,
    outside,
  } as const;
  await t.rejects(
    draftIntent(engine, { ...asked, pluginAccess: { ...pluginAccess, trusts: async () => false } }),
    { code: 'PLUGIN_UNTRUSTED' },
  );
  t.equal(server.asked.length, 0);
  const { contract, model, spent } = await draftIntent(engine, asked);
  t.match(contract.document.intent, { summary: 'Prices are exact' });
  t.equal(model, undefined, 'the run opens the process of the plugin itself');
  await confirmIntent(engine, sample.root, contract.bytes);
  const view = await sample.run({
    source,
    reach: plainly,
    pluginAccess,
    outside,
    runId: asked.runId,
    specBytes: contract.bytes,
    drafting: spent,
  });
  t.match(view, { runId: asked.runId, decision: { type: 'commit' } }, JSON.stringify(view.decision));
});

t.test('a run refuses a provider that cannot be used as configured', async (t) => {
  const { sample, pluginAccess, reach } = await scene();
  t.teardown(() => sample.remove());
  const ask = (bytes: Uint8Array, more: object = {}) =>
    sample.run(
      { source: { kind: 'worker', worker: coderWorker, from: bytes }, reach, pluginAccess, ...more },
      { security },
    );
  await t.rejects(ask(from('https://elsewhere.example')), {
    code: 'PROVIDER_OPTION',
    detail: { plugin: 'parrot', expected: ['api.parrot.example'] },
  });
  await t.rejects(ask(from(), { reach: reachProvider({ variable: () => undefined, keys: {} }) }), {
    code: 'PROVIDER_KEY_MISSING',
    detail: { variable: 'PARROT_API_KEY' },
  });
  await t.rejects(ask(from(), { pluginAccess: { ...pluginAccess, trusts: async () => false } }), {
    code: 'PLUGIN_UNTRUSTED',
  });
  const recorded: typeof reach = async (...asked) => ({
    ...(await reach(...asked)),
    through: async (stream) => stream,
  });
  await t.rejects(ask(from(), { reach: recorded }), { code: 'PROVIDER_OPTION', detail: { flag: 'record' } });
  const unknown = formatModelChoice({ provider: 'parot', flags: {} });
  await t.rejects(ask(unknown), { code: 'SLOT_UNKNOWN' });
});

t.test('refuses an option that the plugin does not declare', async (t) => {
  const { sample, pluginAccess, reach } = await scene('options = { topk = 4 }\n');
  t.teardown(() => sample.remove());
  const source = { kind: 'worker', worker: coderWorker, from: from() } as const;
  await t.rejects(sample.run({ source, reach, pluginAccess }, { security }), {
    code: 'CONFIG_INVALID',
    message: /expected one of `top_k`, found "topk"/,
  });
});
