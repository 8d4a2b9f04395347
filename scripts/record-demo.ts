/*
 * `node scripts/record-demo.ts`: makes `fixtures/demo/model` anew, the recorded traffic that `writ demo` plays back: a
 * model that reads from `demo-model-script.ts` is served on this machine, and the same run as the demonstration's is
 * recorded; with `--session` the session of `writ demo --session` into `fixtures/demo/session`. Needs no network.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { CommandContext } from '../bin/command-parts/command.ts';
import { openEngine } from '../bin/command-parts/engine.ts';
import { openRecorder, reachProvider } from '../bin/command-parts/reach-provider.ts';
import { runByModel } from '../bin/demo/model-run.ts';
import { buildRepository, demoFiles, demoTraffic, sessionTraffic } from '../bin/demo/people.ts';
import { playSession } from '../bin/demo/session-demo.ts';
import { createPrinter, openSink } from '../bin/terminal/print.ts';
import { createProgress } from '../bin/terminal/progress.ts';
import { systemClock } from '../core/base/clock.ts';
import type { HttpStreamer } from '../core/base/http-question.ts';
import type { ReachProvider } from '../core/interfaces/provider.ts';
import { builtInStores } from '../plugins/store/built-in-stores.ts';
import { watchRuns } from '../session/work/watch-runs.ts';
import { scriptModel } from '../test/agent/scripted-model.ts';
import { execFileBounded } from '../workspace/process/spawn.ts';
import { demoReplies } from './demo-model-script.ts';
import { sessionReplies } from './demo-session-script.ts';

/** Of the recording's address, so that it is the same whenever it is made. */
const port = 18_790;

const box = await mkdtemp(join(tmpdir(), 'writ-record-demo-'));
try {
  const repository = join(box, 'orders');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: box,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  await buildRepository(repository, env);
  const git = async (args: readonly string[], input?: Uint8Array): Promise<void> => {
    const given = { cwd: repository, env, maxBytes: 1_000_000, ...(input === undefined ? {} : { input }) };
    const { code, stderr } = await execFileBounded(['git', ...args], given);
    if (code !== 0) throw new Error(stderr.toString('utf8'));
  };
  const isSession = process.argv.includes('--session');
  if (!isSession) {
    await git(['apply', '--index', '-'], await readFile(join(demoFiles, 'fix.patch')));
    await git(['commit', '--quiet', '-m', 'The bypass is closed']);
  }
  const [replies, traffic] = isSession ? [sessionReplies, sessionTraffic] : [demoReplies, demoTraffic];
  await rm(traffic, { recursive: true, force: true });
  const [out, err] = [openSink(process.stdout), openSink(process.stderr)];
  const print = createPrinter(out, err, { quiet: false, colourOut: false, colourErr: false, before() {} });
  const context: CommandContext = {
    args: [],
    commands: [],
    options: { value: () => undefined, values: () => [], flag: () => false },
    signal: new AbortController().signal,
    print,
    progress: createProgress(err, { enabled: false, columns: 80 }, systemClock),
    cwd: box,
    stores: builtInStores,
    env,
    stdin: Readable.from([]),
    interactive: false,
    repoPath: repository,
    json: false,
    quiet: false,
    hasScreen: false,
    colour: false,
  };
  await using model = await scriptModel(replies, port);
  const watcher = watchRuns(systemClock);
  await using engine = await openEngine(context, { plugins: [watcher.plugin] });
  const recorder = openRecorder(traffic, false);
  const reached = reachProvider({ variable: () => undefined, keys: {}, recorder });
  // A session opens its model for each step; all of them are one recording.
  let streamed: Promise<HttpStreamer> | undefined;
  const reach: ReachProvider = async (...asked) => {
    const { through, ...found } = await reached(...asked);
    if (through === undefined) return found;
    return {
      ...found,
      through: (...given) => {
        streamed ??= through(...given);
        return streamed;
      },
    };
  };
  const choice = { provider: 'openai', model: 'scripted', apiBase: model.base, flags: {} };
  const said = isSession
    ? (await playSession(context, { engine, watcher, repository, choice, reach, tell: () => {} })).state
        .status
    : (await runByModel(engine, context, repository, choice, reach)).view.decision?.type;
  recorder.finish();
  print.line(`${model.asked.length} of ${replies.length} replies, ${said}`);
  if (!['commit', 'completed'].includes(said ?? '') || model.asked.length !== replies.length)
    process.exitCode = 1;
} finally {
  await rm(box, { recursive: true, force: true });
}
