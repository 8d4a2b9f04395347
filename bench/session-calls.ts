import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatModelChoice } from '../agent/instructions.ts';
import { coderWorker } from '../agent/plugin.ts';
import { confirmIntent } from '../api/intent/lifecycle.ts';
import { systemClock, toRfc3339 } from '../core/base/clock.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { draftIntent } from '../engine/draft/draft-intent.ts';
import { runIntent } from '../engine/run.ts';
import { maskValues } from '../providers/wire/traffic-file.ts';
import { keepGrants } from '../session/approvals/grants.ts';
import { openSession } from '../session/open-session.ts';
import { pendingOf } from '../session/state/state.ts';
import { watchRuns } from '../session/work/watch-runs.ts';
import { priceDraft } from '../test/agent/planner/drafts.ts';
import { makeSample, type Sample } from '../test/engine/sample.ts';
import { settingOf } from '../test/session/work/scripted-session.ts';
import { figure, median } from './measure.ts';
import { type MockCalls, mockProvider, mockProviderPlugin, submit } from './mock-provider.ts';
import { sized } from './sized.ts';

const calls = 50;

/** Milliseconds; by processors a machine that is busy with other things says the same. */
interface Spent {
  readonly clock: number;
  readonly processors: number;
}

/** A model that reads files in every turn, and when it was asked. */
function readingModel(turns: number) {
  const asked: Spent[] = [];
  const provider = mockProvider((_replies, task): MockCalls => {
    if (task.startsWith('The request:')) return [['submit_intent_draft', priceDraft]];
    if (task.startsWith('The contract:'))
      return [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['read'] }] }]];
    const { user, system } = process.cpuUsage();
    asked.push({ clock: performance.now(), processors: (user + system) / 1000 });
    if (asked.length > turns) return submit;
    const path = (at: number) => ({ path: `src/file-${at}.js`, from_line: 1 + (asked.length % 3) });
    return Array.from({ length: calls }, (_, at) => ['read_file', path(at)] as const);
  });
  const times = (): readonly Spent[] =>
    asked.slice(1, turns + 1).map((now, index) => {
      const before = asked[index] ?? now;
      return {
        clock: (now.clock - before.clock) / calls,
        processors: (now.processors - before.processors) / calls,
      };
    });
  return { provider, times };
}

const from = formatModelChoice({ provider: 'mock', flags: {} });
const source = { kind: 'worker', worker: coderWorker, from } as const;
/** As a session with a key masks what it tells. */
const masked = maskValues(['a-key-that-nobody-may-see']).text;
const reach = async (_name: string, _source: unknown, _base: unknown) => ({
  base: 'http://127.0.0.1:9',
  isOtherBase: false,
});

/** `writ run --request` of the same contract: drafted, confirmed, run, and nobody looks on. */
async function inRun(sample: Sample, turns: number): Promise<readonly Spent[]> {
  const { provider, times } = readingModel(turns);
  await using engine = await sample.engine([mockProviderPlugin(() => provider)]);
  const { target, run } = await settingOf(sample, { base: '' }, { engine });
  const asked = {
    ...run,
    reach,
    source,
    repositoryPath: sample.root,
    runId: uuidV7(systemClock.now()),
    clock: systemClock,
    signal: new AbortController().signal,
  };
  const { contract } = await draftIntent(engine, {
    ...asked,
    said: ['A price is one cent too high: make it exact.'],
    target: await target(),
    createdAt: toRfc3339(systemClock.now()),
  });
  await confirmIntent(engine, sample.root, contract.bytes);
  const stop = new AbortController();
  const running = runIntent(engine, {
    ...asked,
    signal: stop.signal,
    specBytes: contract.bytes,
    sandbox: 'auto',
  }).catch(() => undefined);
  while (times().length < turns) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  await running;
  return times();
}

async function inSession(sample: Sample, turns: number): Promise<readonly Spent[]> {
  const { provider, times } = readingModel(turns);
  const watcher = watchRuns(systemClock);
  await using engine = await sample.engine([watcher.plugin, mockProviderPlugin(() => provider)]);
  const setting = await settingOf(
    sample,
    { base: '' },
    {
      engine,
      watcher,
      modelFor: () => ({ source, instructions: [] }),
      approval: { policy: 'on-request', ttlSeconds: 300, grants: keepGrants(systemClock), mask: masked },
    },
  );
  await using session = await openSession({ ...setting, run: { ...setting.run, reach } });
  const { channel } = session;
  const proof = { from: 'local' } as const;
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      const stop = channel.subscribe((state) => {
        if (pendingOf(state).length === 0 && state.turn !== undefined && times().length < turns) return;
        stop();
        resolve();
      });
    });
  const answer = async (selectedOption: string): Promise<void> => {
    const [asked] = pendingOf(channel.state);
    if (asked === undefined) throw new Error(channel.state.transcript.at(-1)?.content ?? 'nothing is asked');
    const waited = next();
    await channel.send({ type: 'respond', id: asked.id, given: { selectedOption }, proof });
    await waited;
  };
  const waited = next();
  await channel.send({ type: 'submit', text: 'A price is one cent too high: make it exact.', proof });
  await waited;
  await answer('confirm');
  await answer('execute');
  const found = times();
  await channel.send({ type: 'cancel', proof });
  return found;
}

/** What a tool call costs in a session, told and on disk before it is made, over the same call in a run. */
export async function benchSessionCalls(): Promise<boolean> {
  const sample = makeSample();
  try {
    mkdirSync(join(sample.root, 'src'), { recursive: true });
    for (let at = 0; at < calls; at += 1)
      writeFileSync(join(sample.root, `src/file-${at}.js`), `export const value${at} = ${at};\n`.repeat(110));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Files of 4 KB');
    const [runs, sessions]: [Spent[], Spent[]] = [[], []];
    for (let round = 0; round < sized(3, 1); round += 1) {
      runs.push(...(await inRun(sample, sized(10, 2))));
      sessions.push(...(await inSession(sample, sized(10, 2))));
    }
    const held = (['clock', 'processors'] as const).map((by) => {
      const [run, session] = [runs, sessions].map((all) => median(all.map((one) => one[by]))) as [
        number,
        number,
      ];
      const detail = `${session.toFixed(2)} ms a call in a session, ${run.toFixed(2)} ms in a run`;
      const name = `a tool call in a session / in a run${by === 'clock' ? '' : ', processors'}`;
      return figure(name, session / run, 1.3, 'x', detail);
    });
    return held.every(Boolean);
  } finally {
    sample.remove();
  }
}
