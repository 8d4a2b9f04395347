/* The demo of a session, replayed from a recording. */
import { join } from 'node:path';
import { formatModelChoice } from '../../agent/instructions.ts';
import { coderWorker } from '../../agent/plugin.ts';
import { readVersion } from '../../api/build.ts';
import { threadGraph } from '../../api/graph/thread-graph.ts';
import { draftTarget } from '../../api/intent/read-project.ts';
import { openRun } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { noDemands } from '../../api/verify/demands.ts';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import type { RunSettings } from '../../engine/state/run-request.ts';
import { keepGrants } from '../../session/approvals/grants.ts';
import { openLocalDoor } from '../../session/client/local-door.ts';
import { type OpenSession, openSession } from '../../session/open-session.ts';
import { letterOf } from '../../session/screen/asked.ts';
import type { SessionDoor } from '../../session/screen/session-door.ts';
import { openSelfTester } from '../../session/self-test.ts';
import { sessionInstructions } from '../../session/session-options.ts';
import { noAmounts } from '../../session/state/goal.ts';
import type { Interaction } from '../../session/state/interaction.ts';
import { slashCommands } from '../../session/state/slash-words.ts';
import { allCapabilities } from '../../session/state/snapshot.ts';
import { pendingOf, type SessionState, type TranscriptEntry } from '../../session/state/state.ts';
import { runsOfThread, sessionThreads } from '../../session/thread/read-thread.ts';
import { openScreen } from '../../session/tui/open-screen.ts';
import { openPainter } from '../../session/tui/term/open-painter.ts';
import { keyOf } from '../../session/tui/term/painter.ts';
import { type Ground, processGround, reflows } from '../../session/tui/term/process-ground.ts';
import { pickTheme, themes } from '../../session/tui/term/row.ts';
import { type RunWatcher, watchRuns } from '../../session/work/watch-runs.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { reachProvider } from '../command-parts/reach-provider.ts';
import { printGraph } from '../report/graph/graph-text.ts';
import { styled } from '../terminal/print.ts';
import { progressPlugin } from '../terminal/run-progress.ts';
import { sessionTraffic } from './people.ts';

/**
 * `writ demo --session`: one session from the request to the verified commit, played back from a recording. Exit 1
 * where anything is not as it must be.
 */
export async function sessionDemo(
  here: CommandContext,
  out: string,
  repository: string,
): Promise<CommandResult> {
  const say = (text: string): void => {
    here.progress.clear();
    here.print.note(text);
  };
  const watcher = watchRuns(systemClock);
  const watched = here.options.flag('watch') ? watch(here) : undefined;
  // A line that is drawn over and over has no place on a screen that somebody watches.
  const told = watched === undefined ? [progressPlugin(here.progress)] : [];
  await using engine = await openEngine(here, { plugins: [watcher.plugin, ...told] });
  const reach = reachProvider({ variable: () => undefined, keys: {} });
  const choice = { provider: `replay:${sessionTraffic}`, flags: {} };
  const { state, threadId } = await playSession(here, {
    engine,
    watcher,
    repository,
    choice,
    reach,
    // The screen shows new entries itself.
    tell: watched === undefined ? tellNew(say) : () => {},
    ...(watched === undefined ? {} : { sit: watched }),
  });
  const runs = await runsOfThread({ commonDir: `${repository}/.git` }, threadId);
  const last = runs.at(-1);
  if (last === undefined) throw new WritError('DEMO_FAILED', { message: 'no run was begun' });
  const { view } = await openRun(here, last);
  const commit = view.decision?.commitSha;
  const verified = commit === undefined ? [] : await verifyTargets(here, [commit], noDemands);
  const isVerified = verified.length > 0 && verified.every(({ report }) => report.verified);
  const graph = await threadGraph(here, threadId, sessionThreads);
  const session = {
    thread_id: threadId,
    request: sessionRequest,
    status: state.status,
    runs,
    plans: state.plans.flatMap(({ status, run, steps }) =>
      run === undefined
        ? []
        : [
            {
              revision: run.revision,
              status,
              repair: run.repair.attempt,
              steps: steps.map(({ step }) => step),
            },
          ],
    ),
    nodes: graph.nodes.length,
  };
  const data = { ...toRunData(view), verified: isVerified, session, repository };
  const human = (printer: CommandContext['print']): void => {
    printer.line();
    printGraph(printer, graph);
    printer.line();
    const [colour, word] = isVerified ? (['green', 'verified'] as const) : (['red', 'not verified'] as const);
    printer.line(styled(colour, word), `  ${commit ?? 'no commit'}`);
    printer.line(`kept in ${out}: \`git -C ${repository} log\``);
  };
  const wrong = whatIsWrong(state, runs, isVerified);
  return wrong === undefined
    ? succeeded(data, human)
    : refused(new WritError('DEMO_FAILED', { message: wrong }), data, human);
}

/** The screen of this terminal. TERMINAL_REQUIRED where it is none. */
function watch({ env, signal, hasScreen, colour }: CommandContext) {
  if (!hasScreen) throw new WritError('TERMINAL_REQUIRED');
  return watchedPerson({ ground: processGround(), env, clock: systemClock, wantsColour: colour, signal });
}

/** Returns the first unexpected result; `undefined` if there is none. */
function whatIsWrong(
  { status, plans }: SessionState,
  runs: readonly string[],
  isVerified: boolean,
): string | undefined {
  if (status !== 'completed') return `the session ended as \`${status}\``;
  const states = plans.flatMap((plan) => (plan.run === undefined ? [] : [plan.status]));
  if (runs.length !== 2 || states[0] !== 'failed' || states[1] !== 'completed')
    return `expected one plan that fails and one that repairs it, found ${states.join(', ')}`;
  return isVerified ? undefined : 'the commit of the session does not verify';
}

/** Each question and note of the transcript once, as it comes. */
function tellNew(say: (text: string) => void): (state: SessionState) => void {
  const told = new Set<string>();
  return ({ transcript, interactions }) => {
    for (const entry of transcript) {
      const line = told.has(entry.id) ? undefined : lineOf(entry);
      told.add(entry.id);
      if (line !== undefined) say(line);
    }
    for (const { id, status, prompt } of interactions) {
      if (told.has(id) || status !== 'pending') continue;
      told.add(id);
      say(`asked      ${prompt ?? 'a question'}`);
    }
  };
}

function lineOf({ kind, title, content = '' }: TranscriptEntry): string | undefined {
  const [first = ''] = content.split('\n');
  if (kind === 'user_message') return `person     ${first}`;
  if (kind === 'plan_summary') return `plan       ${content.split('\n').slice(2).join('; ')}`;
  return kind === 'info_note' ? `${(title ?? 'note').padEnd(10)} ${first}` : undefined;
}

/** Delays in milliseconds: after a letter, for reading a prompt, after the end. */
const pace = { letter: 35, read: 1800, last: 1500 } as const;

interface WatchedTerminal {
  readonly ground: Pick<Ground, 'write' | 'size'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly wantsColour: boolean;
  readonly signal: AbortSignal;
}

/** Somebody who types at a screen, at a speed that others can read along. */
function watchedPerson({ ground, env, clock, wantsColour, signal }: WatchedTerminal) {
  return (session: OpenSession): SeatedPerson => {
    const size = ground.size();
    const painter = openPainter({
      write: (text) => ground.write(text),
      size,
      theme: themes[pickTheme(env, { colour: wantsColour, plain: false })],
      reflows: reflows(env),
    });
    const door = openLocalDoor(session, {
      diagnostics: async () => ({}),
      threads: async () => ({ items: [] }),
    });
    const screen = openScreen({
      door,
      painter,
      size,
      clock,
      commands: slashCommands,
      greeting: [],
      paths: async () => [],
      edit: async (text) => text,
      write: async (path) => path,
      suspend: () => {},
    });
    return {
      async say(text) {
        for (const letter of text) {
          screen.press([{ type: 'text', text: letter }]);
          await clock.sleep(pace.letter, signal);
        }
        await clock.sleep(pace.read / 3, signal);
        const heard = heardBy(door);
        screen.press([keyOf('enter')]);
        await heard;
      },
      async answer({ kind }, option) {
        await clock.sleep(pace.read, signal);
        const letter = letterOf(option);
        if (letter === undefined) throw new Error(`no key answers ${option} of ${kind}`);
        screen.press([{ type: 'text', text: letter }]);
      },
      async [Symbol.asyncDispose]() {
        // An abort skips the delay; the caller reports the reason.
        await clock.sleep(pace.last, signal).catch(() => {});
        screen.close();
      },
    };
  };
}

/** Resolves when a turn has begun, so the message was accepted. */
function heardBy(door: SessionDoor): Promise<void> {
  return new Promise((resolve) => {
    const stop = door.follow(() => {
      if (door.snapshot().status === 'idle') return;
      stop();
      resolve();
    });
  });
}

/** The user's message in the demo session. */
export const sessionRequest = 'The note of an order is kept with the blanks around it. Keep it without them.';

interface SessionParts {
  readonly engine: WritEngine;
  readonly watcher: RunWatcher;
  readonly repository: string;
  readonly choice: ModelChoice;
  readonly reach: NonNullable<RunSettings['reach']>;
  /** Called for each new transcript entry. */
  readonly tell: (state: SessionState) => void;
  /** Who speaks and answers; absent: somebody who is quick. */
  readonly sit?: (session: OpenSession) => SeatedPerson;
}

/** A person before the session of the demonstration. */
interface SeatedPerson extends AsyncDisposable {
  say(text: string): Promise<void>;
  answer(asked: Interaction, option: string): Promise<void>;
}

const local = { from: 'local' } as const;

/** Sends and answers without delay. */
function quickPerson({ channel }: OpenSession): SeatedPerson {
  return {
    say: async (text) => void (await channel.send({ type: 'submit', text, proof: local })),
    answer: async ({ id }, selectedOption) =>
      void (await channel.send({ type: 'respond', id, given: { selectedOption }, proof: local })),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * A whole session, answered as a person would: the draft is confirmed, the network is opened for the plan, the plan is
 * executed; what fails then is repaired by itself. The state as it ended, and its thread.
 */
export async function playSession(
  context: CommandContext,
  { engine, watcher, repository, choice, reach, tell, sit = quickPerson }: SessionParts,
): Promise<{ readonly state: SessionState; readonly threadId: string }> {
  const witness = userJournalWitness(context.env);
  const { commonDir } = await openRepository(repository);
  const selfTest = openSelfTester('auto', engine.slots.sandbox, context.signal);
  selfTest.serve({ ports: [], paths: [join(commonDir, 'writ')] });
  await using session = await openSession({
    engine,
    watcher,
    witness,
    repositoryPath: repository,
    target: () => draftTarget(context),
    sandbox: 'auto',
    modelFor: () => ({
      source: { kind: 'worker', worker: coderWorker, from: formatModelChoice(choice) },
      instructions: sessionInstructions({ context: 'dev', agent: undefined }),
    }),
    clock: systemClock,
    env: context.env,
    run: { schedulerVersion: readVersion(), witness, reach },
    approval: { policy: 'on-request', ttlSeconds: 0, grants: keepGrants(systemClock), mask: (text) => text },
    selfTest,
    ground: {
      workingDir: repository,
      provider: { provider: 'replay', managed: false },
      capabilities: allCapabilities,
      context: 'dev',
      networkAccess: 'deny',
      named: [],
      onlyReads: false,
      local: 'cli',
      attachable: [],
      goalBudget: noAmounts,
    },
  });
  session.channel.subscribe((state) => tell(state));
  await using person = sit(session);
  await person.say(sessionRequest);
  await person.answer(await asked(session, 'intent_review_choice'), 'confirm');
  const plan = await asked(session, 'post_plan_choice');
  await person.answer(plan, 'network');
  await person.answer(plan, 'execute');
  await until(session, ({ turn }) => turn === undefined);
  return { state: session.channel.state, threadId: session.threadId };
}

/** The question of that kind; DEMO_FAILED where the turn ends without it. */
async function asked(session: OpenSession, kind: Interaction['kind']): Promise<Interaction> {
  const find = (state: SessionState) => pendingOf(state).find((one) => one.kind === kind);
  await until(session, (state) => state.turn === undefined || find(state) !== undefined);
  const found = find(session.channel.state);
  if (found !== undefined) return found;
  const last = session.channel.state.transcript.at(-1)?.content ?? '';
  throw new WritError('DEMO_FAILED', { message: `the session ended before \`${kind}\`: ${last}` });
}

function until({ channel }: OpenSession, holds: (state: SessionState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (holds(channel.state)) return resolve();
    const stop = channel.subscribe((state) => {
      if (!holds(state)) return;
      stop();
      resolve();
    });
  });
}
