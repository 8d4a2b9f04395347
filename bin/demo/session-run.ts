import { join } from 'node:path';
import { readVersion } from '../../api/version.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { formatModelChoice } from '../../coder/model-choice.ts';
import { coderWorker } from '../../coder/plugin.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/contract/turns.ts';
import type { RunSettings } from '../../engine/run/state/run-request.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { keepGrants } from '../../session/approvals/keep-grants.ts';
import { type OpenSession, openSession } from '../../session/open-session.ts';
import { openSelfTester } from '../../session/self-test/self-tester.ts';
import { allCapabilities } from '../../session/state/all-capabilities.ts';
import { noAmounts } from '../../session/state/goal-budget.ts';
import type { Interaction } from '../../session/state/interaction.ts';
import { pendingOf, type SessionState } from '../../session/state/state.ts';
import type { RunWatcher } from '../../session/work/watch-runs.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { draftTarget } from '../command-parts/draft-target.ts';

/** What a person says in the demonstration's session. */
export const sessionRequest = 'The note of an order is kept with the blanks around it. Keep it without them.';

export interface SessionParts {
  readonly engine: WritEngine;
  readonly watcher: RunWatcher;
  readonly repository: string;
  readonly choice: ModelChoice;
  readonly reach: NonNullable<RunSettings['reach']>;
  /** Told each entry of the transcript that is new. */
  readonly tell: (state: SessionState) => void;
  /** Who speaks and answers; absent: somebody who is quick. */
  readonly sit?: (session: OpenSession) => SeatedPerson;
}

/** A person before the session of the demonstration. */
export interface SeatedPerson extends AsyncDisposable {
  say(text: string): Promise<void>;
  answer(asked: Interaction, option: string): Promise<void>;
}

const local = { from: 'local' } as const;

/** Says and answers at once. */
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
      instructions: [],
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
