import t, { type Test } from 'tap';
import { toRunData } from '../../api/run/run-data.ts';
import { reachProvider } from '../../bin/command-parts/reach-provider.ts';
import { replayRun } from '../../engine/decide/replay-run.ts';
import { lackingCitations, parseCitations } from '../../store/record/summaries.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import { type Json, makeSample, merge } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { openWebWorld } from './fake-web.ts';
import { done, source, toldTo } from './model-work.ts';
import { fixOfPrice, modelRights } from './price-task.ts';
import { type ScriptedReply, scriptModel } from './scripted-model.ts';

const change = { calls: [['apply_patch', { patch: fixOfPrice }]] } as const;
const end = { calls: [done] } as const;
const record = (sources: string, more: object = {}): ScriptedReply => ({
  calls: [['record_decision', { decision: 'cents are whole', sources, ...more }]],
});

/** A run whose model works like this, under a contract that asks for so many citations. */
async function worked(
  t: Test,
  replies: readonly ScriptedReply[],
  needed: number,
  evidence: Json = {},
  more: { readonly spec?: Json; readonly outside?: Outside } = {},
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel(replies);
  const view = await sample.run(
    {
      source: source(model),
      reach: reachProvider({ variable: () => undefined, keys: {} }),
      ...(more.outside === undefined ? {} : { outside: more.outside }),
    },
    merge(
      {
        security: modelRights,
        acceptance: {
          verificationPlan: {
            fastChecks: ['unit', 'again'].map((id) => ({
              ...{ id, kind: 'command', command: 'node --test', timeoutSeconds: 60, required: true },
              artifactsProduced: ['test-log'],
            })),
          },
        },
        execution: { retry: { maxRetries: 1, backoffSeconds: 0 }, replan: { triggers: [] } },
        evidence: {
          trustTiers: ['repo', 'user-provided'],
          ...(evidence as object),
          minCitationsPerDecision: needed,
        },
      },
      more.spec ?? {},
    ),
  );
  const ref = `refs/ai/runs/${view.runId}`;
  const paths = sample.git('ls-tree', '-r', '--name-only', ref).split('\n');
  const show = (path: string): Buffer => {
    const text = sample.git('cat-file', 'blob', `${ref}:${path}`);
    return Buffer.from(/decision-(?:input|record)\.json$/.test(path) ? `${text}\n` : text);
  };
  const files = () =>
    new Map(paths.filter((path) => path.endsWith('.json')).map((path) => [path, show(path)]));
  return {
    view,
    told: toldTo(model),
    asked: model.asked.length,
    files,
    first: JSON.stringify(model.asked[0]),
  };
}

long('a decision with enough sources passes, and the record lists its sources', async (t) => {
  const lines = [
    './src/price.js:3-4',
    'src/price.js#L1',
    'test/price.test.js',
    'https://example.org/x',
    'none.js',
  ];
  const { view, told, files, first } = await worked(
    t,
    [record(lines.join('\n'), { step: 1 }), change, end],
    2,
  );
  t.match(view, { decision: { type: 'commit' } });
  t.match(first, 'at least 2 distinct sources');
  t.match(first, 'or `contract` for this task itself');
  t.match(
    told[0],
    /recorded; does not count:\n`https:\/\/example\.org\/x`: .*\n`none\.js`: no file of the repository/,
  );
  const one = {
    attempt: 'task-1/revision-1/attempt-1',
    decision: 'cents are whole',
    step: 1,
    sources: [
      { source: 'src/price.js', counts: true, trust_tier: 'repo' },
      { source: 'src/price.js', counts: true, trust_tier: 'repo' },
      { source: 'test/price.test.js', counts: true, trust_tier: 'repo' },
      { source: 'https://example.org/x', counts: false },
      { source: 'none.js', counts: false, why: 'no file of the repository, and no address' },
    ],
  };
  const data = toRunData(view) as { citations?: unknown };
  t.match(data.citations, { needed: 2, count: 1, first: [one] });
  const record1 = files();
  t.match(replayRun(record1), { equal: true });
  const path = 'task-1/revision-1/attempt-1/citations.json';
  const forged = parseCitations(record1.get(path) ?? Buffer.of());
  const sources = forged.first[0]?.sources.map((each) => ({ ...each, counts: false })) ?? [];
  const bytes = Buffer.from(JSON.stringify({ ...forged, first: [{ ...forged.first[0], sources }] }));
  t.match(
    replayRun(new Map([...record1, [path, bytes]])),
    { equal: false },
    'what it rests on is judged again',
  );
});

long('without required citations, sources are still evaluated and recorded', async (t) => {
  const { view, told, files, first } = await worked(t, [record('src/price.js\nnone.js'), change, end], 0);
  t.match(view, { decision: { type: 'commit' } });
  t.notMatch(first, 'distinct sources', 'and nothing is asked for');
  t.match(told[0], /recorded; does not count:\n`none\.js`/);
  t.match((toRunData(view) as { citations?: unknown }).citations, {
    needed: 0,
    first: [
      {
        sources: [
          { source: 'src/price.js', counts: true },
          { source: 'none.js', counts: false },
        ],
      },
    ],
  });
  t.match(replayRun(files()), { equal: true });
});

long('too few citations are reported to the model, then the attempt fails and is retried', async (t) => {
  const enough = record('src/price.js\ncontract', { step: 1 });
  const { view, told, asked } = await worked(
    t,
    [record('src/price.js\nsrc/price.js:2'), change, end, end, end, enough, change, end],
    2,
  );
  t.match(view, { decision: { type: 'commit' } });
  t.equal(asked, 8);
  t.match(view.retries, { count: 1, first: [{ reason: 'patch refused by `citations`', next: 'retry' }] });
  t.match(view.citations?.first, [{ sources: [{ trust_tier: 'repo' }, { trust_tier: 'user-provided' }] }]);
  t.match(told[0], 'recorded');
  const failed = await worked(t, [change, end, end, end, change, end, end, end], 1);
  t.match(failed.view, { decision: { type: 'abandon' } });
  t.match(failed.told[1], /not ended:\nno decision is recorded for step 1/);
});

long('a model can add missing citations after it is notified', async (t) => {
  const again = record('test/price.test.js', { step: 1 });
  const { view, told } = await worked(t, [record('src/price.js'), change, end, again, end], 2);
  t.match(view, { decision: { type: 'commit' } });
  t.match(told[2], '`cents are whole` rests on 1 of 2 sources that count');
  t.equal(view.retries, undefined);
});

long('a source outside the trusted tiers never counts', async (t) => {
  const named = record('src/price.js\ncontract', { step: 1 });
  const { view } = await worked(t, [named, change, end, end, end], 1, {
    trustTiers: ['vendor-doc'],
  });
  t.match(view, {
    decision: { type: 'abandon' },
    retries: { first: [{ reason: /refused by `citations`/ }] },
  });
});

long('a page counts only after it was read, and a blocked page never counts', async (t) => {
  const { outside } = await openWebWorld(t, () => (_request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('cents are whole');
  });
  const allow = [...modelRights.toolAcl.allow, { tool: 'web.search', actions: ['read'], constraints: {} }];
  const urls = ['https://docs.example.com/a', 'https://docs.example.com/b', 'https://blocked.example/'];
  const { view, told } = await worked(
    t,
    [
      { calls: [['read_page', { url: `${urls[0]}#part` }]] },
      record(urls.join('\n'), { step: 1 }),
      change,
      end,
    ],
    1,
    {
      strategy: 'open-web',
      trustTiers: ['repo', 'vendor-doc'],
      domainAllowlistMode: 'disabled',
      allowedDomains: ['docs.example.com'],
      blockedDomains: ['blocked.example'],
    },
    {
      outside,
      spec: { security: { toolAcl: { allow } }, constraints: { security: { networkPolicy: 'allow' } } },
    },
  );
  t.match(view, { decision: { type: 'commit' } });
  t.match(told[1], /nothing of it was read in this attempt\n.*the domain rules of the contract refuse it/);
  t.match(view.citations?.first[0]?.sources, [
    { source: urls[0], counts: true, trust_tier: 'vendor-doc' },
    { source: urls[1], counts: false },
    { source: urls[2], counts: false },
  ]);
});

t.test('decisions beyond the evaluated ones are reported as lacking citations', async (t) => {
  const sources = [{ source: 'a', counts: true }];
  const rest = { needed: 1, steps: 1, first: [{ decision: 'd', step: 1, sources }] };
  t.strictSame(lackingCitations({ ...rest, count: 1 }), []);
  t.equal(lackingCitations({ ...rest, count: 2 }).length, 1);
  t.equal(lackingCitations({ ...rest, count: 2, needed: 0 }).length, 0);
});
