import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reachProvider, reachSearch } from '../../../bin/command-parts/reach-provider.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { valueAt } from '../../../core/base/json-pointer.ts';
import type { IntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { HandUse, Worker } from '../../../core/interfaces/worker.ts';
import { definePlugin, type LoadedPlugin } from '../../../core/kernel/plugin.ts';
import { withLandings } from '../../../engine/intent/find-intent.ts';
import { readIntentHistory } from '../../../engine/intent/intent-history.ts';
import { planRun, type RunPlan } from '../../../engine/plan-run.ts';
import type { RunRequest } from '../../../engine/state/run-request.ts';
import { collectGarbage } from '../../../engine/upkeep/collect-garbage.ts';
import { createRecordedWorker } from '../../../plugins/recorded-worker/plugin.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';
import { applyDefaults } from '../../../spec/document-schema.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { reviewDocument } from '../../../spec/review.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { openWebWorld } from '../../agent/fake-web.ts';
import { source, toldTo } from '../../agent/model-work.ts';
import { scriptModel } from '../../agent/scripted-model.ts';
import { mend } from '../../agent/use-workspace-tools.ts';
import { sign } from '../../engine/people.ts';
import type { Json, Sample } from '../../engine/sample.ts';
import { daysLater } from '../../engine/upkeep/finished-run.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { quickClock } from '../../waiting/quick-clock.ts';
import { until } from '../../waiting/until.ts';
import { FakeOutside, origin } from '../../workspace/egress/client.ts';
import { issueLines, type Observation, observed, ofRun, refused } from './observation.ts';
import { addressOf, changeOf, closing, keyOf, type Scene, stage } from './scene.ts';

/** Brings one spec, in a scene, to the end that a pair names. */
type Driver = (scene: Scene, spec: Json) => Promise<Observation>;

const bytesOf = (spec: Json): Buffer => Buffer.from(JSON.stringify(spec));

export const drivers = {
  /** The document as `writ spec` validates and shows it; nothing runs. */
  async validate(_scene, spec) {
    const read = readIntentSpec(bytesOf(spec));
    const known = { issue: issueLines(read.issues), digest: read.digest ?? null };
    if (!read.ok) return observed({ ...known, effective: null, review: null });
    const { document, effective, digest, issues } = read;
    const review = reviewDocument({ document, effective, digest, issues, scope: [] });
    return observed({ ...known, effective: effective as unknown as Json, review });
  },

  /** What `writ plan` says of it. */
  async plan(scene, spec) {
    const { sample, engine } = await plannerOf(scene);
    try {
      return ofPlan(
        await planRun(engine, {
          repositoryPath: sample.root,
          specBytes: bytesOf(spec),
          who: scene.who ?? 'worker',
          sandbox: scene.sandbox ?? 'auto',
          clock: systemClock,
        }),
      );
    } catch (fault) {
      return refused(fault);
    }
  },

  /** A supplied patch, to its decision. */
  async run(scene, spec) {
    const sample = await stage(scene);
    const { more, requests } = await surroundings(scene);
    const change = { source: { kind: 'patch', bytes: changeOf(scene) } as const, ...more };
    const meeting = openMeeting(scene, spec);
    if (scene.before) await sample.run(change, scene.before);
    return finish(
      sample,
      spec,
      scene,
      () =>
        sample.run({ ...change, specBytes: bytesOf(spec) }, {}, [...pluginsOf(scene), ...meeting.plugins]),
      () => ({
        request: requests(),
        atOnce: meeting.most(),
      }),
      more.secrets,
    );
  },

  /** A worker that answers from a recording. Waits between attempts take no time; their seconds are observed. */
  async work(scene, spec) {
    const sample = await stage(scene);
    const [waits, orders]: [number[], string[]] = [[], []];
    const meeting = openMeeting(scene, spec);
    const recorded = createRecordedWorker(scene.answers ?? [], async () => {});
    const worker: Worker = {
      ...recorded,
      async work(order) {
        orders.push(`task ${order.taskNumber} revision ${order.revision} attempt ${order.attempt}`);
        await meeting.meet();
        return recorded.work(order);
      },
    };
    return finish(
      sample,
      spec,
      scene,
      () => sample.run({ worker, clock: quickClock(waits), specBytes: bytesOf(spec) }),
      () => ({ wait: waits.map((ms) => Math.ceil(ms / 1000)), order: orders, atOnce: meeting.most() }),
    );
  },

  /** A worker that uses tools as the scene says, and mends the sample afterwards. */
  async tools(scene, spec) {
    const sample = await stage(scene);
    const answers: Json[] = [];
    const worker: Worker = {
      name: 'of-the-pair',
      usesModel: true,
      async work({ hands }) {
        for (const { text, ...use } of scene.uses ?? []) {
          const written = typeof text === 'string' ? { bytes: Buffer.from(text) } : {};
          const { outcome, text: answer } = await hands.use({ ...use, ...written } as unknown as HandUse);
          answers.push({ outcome, text: answer });
        }
        await mend((use) => hands.use(use));
        return { kind: 'workspace', usage: { costUnits: 0 } };
      },
    };
    return finish(
      sample,
      spec,
      scene,
      () => sample.run({ worker, specBytes: bytesOf(spec) }),
      () => ({ answer: answers }),
    );
  },

  /** A model that replies from a script, through the whole loop of the coder. */
  async model(scene, spec) {
    const sample = await stage(scene);
    await using model = await scriptModel(scene.script ?? []);
    const { more, requests } = await surroundings(scene);
    const reach = reachProvider({ variable: () => undefined, keys: {} });
    return await finish(
      sample,
      spec,
      scene,
      () => sample.run({ source: source(model), reach, ...more, specBytes: bytesOf(spec) }),
      () => ({
        told: toldTo(model),
        asked: model.asked.length,
        request: requests(),
      }),
    );
  },
} satisfies Readonly<Record<string, Driver>>;

export type DriverName = keyof typeof drivers;

/** Ends a run: people sign and it goes on, garbage is collected; then it is observed. */
async function finish(
  sample: Sample,
  spec: Json,
  scene: Scene,
  run: () => ReturnType<Sample['run']>,
  seen: () => Readonly<Record<string, Json | undefined>>,
  secrets?: RunRequest['secrets'],
): Promise<Observation> {
  try {
    let view = await atHome(scene, sample, run);
    const asked = view.state;
    for (const person of scene.approvals ?? [])
      if (view.state === 'waiting') await sign(sample, view.runId, keyOf(sample, person), addressOf(person));
    if (view.state === 'waiting' && scene.approvals && scene.approvals.length > 0)
      view = await sample.resume(view.runId, secrets ? { secrets } : {});
    const removed = scene.daysLater === undefined ? [] : await collected(sample, scene.daysLater);
    const history = scene.history ? await changeLogOf(sample, view.runId, spec) : [];
    return ofRun(sample, view, spec, { ...seen(), first: asked, removed, history });
  } catch (fault) {
    return refused(fault);
  }
}

/** Programs of the user are looked for in the home of this process: the scene's, where it has one. */
async function atHome<Value>({ home }: Scene, sample: Sample, run: () => Promise<Value>): Promise<Value> {
  if (home === undefined) return run();
  const before = process.env.HOME;
  process.env.HOME = sample.home;
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  }
}

/** Who added each entry of the intent's change log, those of the author first. */
async function changeLogOf(sample: Sample, runId: string, spec: Json): Promise<readonly string[]> {
  const repository = await openRepository(sample.root);
  const { store } = await findRun(builtInStores, repository, systemClock, runId);
  const history = await readIntentHistory(
    withLandings(repository, store),
    String(valueAt(spec, '/metadata/id')),
  );
  return (history?.changeLog ?? []).map(({ by }) => by);
}

async function collected(sample: Sample, days: number): Promise<readonly string[]> {
  const temporary = join(sample.home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const removed = await collectGarbage({
    stores: builtInStores,
    repository: await openRepository(sample.root),
    clock: daysLater(days),
    dryRun: false,
    temporary,
  });
  return removed.map(({ kind }) => kind);
}

function ofPlan(plan: RunPlan): Observation {
  const { scope, tasks, edges, retentionDays, evidence } = plan;
  const value = {
    scope,
    tasks,
    edges,
    retentionDays,
    evidence,
    stages: Object.fromEntries(
      plan.stages.map(({ stage: name, checks }) => [name, checks.map(({ id }) => id)]),
    ),
    rules: Object.fromEntries(plan.stages.map(({ stage: name, rules }) => [name, rules])),
    patchRules: plan.patchRules,
  };
  return observed({
    // As JSON has it: without members that are not there.
    plan: JSON.parse(JSON.stringify(value)) as Json,
    refusal: plan.refusals.map(({ fault }) => fault.code)[0] ?? null,
    notice: issueLines(plan.notices),
    warning: issueLines(plan.contract.warnings),
  });
}

const planners = new Map<string, Promise<{ readonly sample: Sample; readonly engine: WritEngine }>>();

/** Nothing that is planned changes the repository: one for all plans of a scene. */
function plannerOf(scene: Scene) {
  const key = JSON.stringify(scene);
  const known = planners.get(key) ?? openPlanner(scene);
  planners.set(key, known);
  return known;
}

async function openPlanner(scene: Scene) {
  const sample = await stage(scene);
  const engine = await sample.engine();
  closing.teardown(() => engine[Symbol.asyncDispose]());
  return { sample, engine };
}

/** What a scene has a run find outside its repository, and the requests that reached it. */
async function surroundings(
  scene: Scene,
): Promise<{ readonly more: Partial<RunRequest>; requests(): readonly string[] }> {
  const { secrets: kept, hosts, web, sandbox } = scene;
  const secrets = kept && {
    ofScope: async (scope: string) => new Map(Object.entries(kept[scope] ?? {})),
    known: async () => Object.values(kept).flatMap((variables) => Object.values(variables)),
  };
  const plain = { ...(secrets ? { secrets } : {}), ...(sandbox ? { sandbox } : {}) };
  if (web) {
    const world = await openWebWorld(closing, web === 'results' ? results : pages);
    const search = reachSearch({
      environment: (name) => (name === 'BRAVE_API_KEY' ? 'a-key-of-the-search-api' : undefined),
    });
    return {
      more: { ...plain, outside: world.outside, search },
      requests: () => world.seen.map(({ host, url }) => `${host}${url}`),
    };
  }
  if (!hosts) return { more: plain, requests: () => [] };
  const { port, seen } = await origin(closing);
  const outside = new FakeOutside();
  for (const [name, address] of Object.entries(hosts)) outside.names.set(name, [address]);
  outside.ports.set(80, port);
  return {
    more: { ...plain, outside },
    requests: () => seen.map(({ request }) => `${request.headers.host}${request.url}`),
  };
}

type Serve = Parameters<typeof openWebWorld>[1];

/** A search that finds three pages. */
const results: Serve = (host) => (_request, response) => {
  const found = ['https://docs.example.com/a', 'https://www.example.net/b', 'https://blocked.example/c'];
  const list = found.map((url) => ({ title: url, url, description: 'words' }));
  if (host !== 'api.search.brave.com') response.writeHead(404).end();
  else response.end(JSON.stringify({ type: 'search', web: { results: list } }));
};

/** Pages of text; `/to-HOST` leads to a page of that host. */
const pages: Serve = (host) => (request, response) => {
  const to = /^\/to-(.*)$/.exec(request.url ?? '')?.[1];
  response.setHeader('content-type', 'text/html; charset=utf-8');
  if (to === undefined) response.end(`<p>words of ${host}</p>`);
  else response.writeHead(302, { location: `https://${to}/page` }).end();
};

function pluginsOf({ breaksStatement }: Scene): readonly LoadedPlugin[] {
  if (!breaksStatement) return [];
  return [
    definePlugin({
      name: 'breaks-statement',
      api: 1,
      setup({ hooks }) {
        hooks.statement.fill.tap(() => {
          throw new Error('no entropy today');
        });
        return undefined;
      },
    }),
  ];
}

/**
 * Where several wait for each other: as many as the spec lets run at once. Where it lets one, nobody may come
 * meanwhile, which only a while shows.
 */
function openMeeting({ meets }: Scene, spec: Json) {
  let [here, most] = [0, 0];
  const limit = meets
    ? applyDefaults(spec as unknown as IntentSpec).execution.concurrency.maxParallelTasks
    : 0;
  const arrive = (): void => {
    here += 1;
    most = Math.max(most, here);
  };
  const wait = (): Promise<void> => (limit > 1 ? until(() => most > 1, 'a second one at once') : lookOn(300));
  const plugin = definePlugin({
    name: 'meeting',
    api: 1,
    setup({ hooks }) {
      hooks.tool.guard.tap(async () => {
        arrive();
        await wait();
        return undefined;
      });
      hooks.tool.settled.tap(() => {
        here -= 1;
      });
      return undefined;
    },
  });
  return {
    plugins: meets ? [plugin] : [],
    most: () => most,
    async meet() {
      if (!meets) return;
      arrive();
      await wait();
      here -= 1;
    },
  };
}
