import t, { type Test } from 'tap';
import { isWritError } from '../../../core/base/errors.ts';
import { decide } from '../../../session/state/decide.ts';
import type { Proof } from '../../../session/state/fact.ts';
import { type Interaction, isConsent } from '../../../session/state/interaction.ts';
import { isApproval } from '../../../session/state/question.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { pendingOf, type SessionState } from '../../../session/state/state.ts';
import { isLong, long } from '../../rooms/long.ts';
import { newWorld, type Step, type World, walk } from './walk.ts';

t.setTimeout(300_000);

/** Whoever may write at this very moment, asked in every way there is. */
function writersOf({ state, nowMs, tokens }: World): readonly string[] {
  const proofs: readonly (readonly [string, Proof])[] = [
    ['local', { from: 'local' }],
    ...Object.entries(tokens).map(
      ([client, tokenDigest]) => [client, { from: 'client', tokenDigest, controlToken: 'valid' }] as const,
    ),
  ];
  return proofs.flatMap(([name, proof]) => {
    try {
      decide(state, { type: 'cancel', proof }, { nowMs, monotonicMs: nowMs, newId: () => 'id' });
      return [name];
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      return [];
    }
  });
}

/** What of a state outlives its process. */
function lasting(state: SessionState) {
  const { interactions, transcript, toolCalls, commands, reviews, turn, status, settings } = state;
  return JSON.stringify([
    interactions,
    transcript,
    toolCalls,
    [...commands],
    reviews,
    turn,
    status,
    settings,
  ]);
}

function confirmationOf(asked: Interaction | undefined): string | undefined {
  return asked !== undefined && isApproval(asked) ? asked.metadata.needsConfirmation : undefined;
}

const checks: Readonly<Record<string, (step: Step) => boolean>> = {
  'what was refused has changed nothing': ({ refusal, before, after }) =>
    refusal === undefined || after.state === before.state,
  'nothing is approved but by an answer that says so, to a question that is pending': ({
    facts,
    command,
    before,
  }) =>
    facts.every(
      (fact) =>
        fact.type !== 'answered' ||
        !isConsent(fact.answer.option) ||
        (command.type === 'respond' &&
          command.id === fact.id &&
          (command.given.selectedOption === fact.answer.option ||
            (command.given.selectedOption === undefined &&
              command.given.approved === true &&
              fact.answer.option === 'approve')) &&
          before.state.interactions.some(({ id, status }) => id === fact.id && status === 'pending')),
    ),
  'an answer is one of whoever may write': ({ facts, before, command }) =>
    facts.every(
      (fact) =>
        fact.type !== 'answered' ||
        (command.type === 'respond' &&
          writersOf(before).includes(
            command.proof.from === 'local' ? 'local' : (fact.by.clientId ?? 'nobody'),
          )),
    ),
  'everything is allowed only where that was said twice': ({ facts, before }) =>
    facts.every(
      (fact) =>
        fact.type !== 'answered' ||
        fact.answer.option !== 'allow_all_commands' ||
        confirmationOf(before.state.interactions.find(({ id }) => id === fact.id)) === 'allow_all_commands',
    ),
  'who is idle is in no turn': ({ after }) => after.state.status !== 'idle' || after.state.turn === undefined,
  'at most one may write': ({ after }) => writersOf(after).length <= 1,
  'what is wanted of an answer was answered': ({ facts, wants }) =>
    wants.filter(({ type }) => type === 'answer').length ===
    facts.filter(({ type }) => type === 'answered').length,
  'no question is lost: it is pending, answered, or its turn was cancelled or has ended': ({
    facts,
    after,
  }) =>
    facts.every(
      (fact) =>
        fact.type !== 'withdrawn' ||
        fact.why !== 'taken-over' ||
        pendingOf(after.state).some(
          ({ subject }) => subject === after.state.interactions.find(({ id }) => id === fact.id)?.subject,
        ),
    ),
  'whoever takes over finds no question that he was not asked': ({ before, after, facts }) =>
    before.state.holder === after.state.holder ||
    pendingOf(after.state).every(
      (asked) =>
        confirmationOf(asked) === undefined &&
        facts.some((fact) => fact.type === 'asked' && fact.interaction.id === asked.id),
    ),
  'no lease outlives its time': ({ after: { state, nowMs }, refusal }) =>
    refusal !== undefined || state.lease === undefined || state.lease.endsAtMs > nowMs,
  'a question waits only while its turn runs': ({ after: { state } }) =>
    pendingOf(state).length === 0 || state.turn !== undefined,
  'a session that waits for an answer has a question': ({ after: { state } }) =>
    (state.status === 'awaiting_interaction') === pendingOf(state).length > 0,
  'what only reads has no network': ({ after: { state } }) =>
    state.settings.context === 'dev' || state.settings.networkAccess === 'deny',
  'a turn ends as the kind of session that it began in': ({ before, after }) =>
    before.state.turn === undefined || after.state.settings.context === before.state.settings.context,
  'settings are what somebody said who may write': ({ before, after, command }) =>
    after.state.settings === before.state.settings || command.type === 'submit',
  'no snapshot holds a token, or its digest': ({ after }) =>
    !JSON.stringify(toSnapshot(after.state)).includes('digest-'),
  'what is committed is kept: nobody says otherwise of it': ({ after }) =>
    after.state.reviews.every(({ patchset }) => patchset === 'proposed'),
  'what outlives the process is in its journal': ({ after }) => {
    const [opened, ...facts] = after.journal;
    if (opened?.type !== 'opened') return false;
    return lasting(facts.reduce(reduce, openedState(opened))) === lasting(after.state);
  },
};

/** One more than it takes for a client to lose its lease, another to come, and an old answer to arrive. */
const depth = isLong ? 7 : 6;

for (const local of ['tui', 'none'] as const) {
  long(
    `any sequence of seven commands keeps the invariants ${local === 'tui' ? 'with' : 'without'} a screen`,
    async (t: Test) => {
      const met = new Map<string, number>();
      const seen = new Map<string, number>();
      let steps = 0;
      for (const step of walk(newWorld({ local }), depth)) {
        steps += 1;
        seen.set(step.name, (seen.get(step.name) ?? 0) + (step.refusal === undefined ? 1 : 0));
        for (const [name, holds] of Object.entries(checks)) {
          if (holds(step)) continue;
          met.set(name, (met.get(name) ?? 0) + 1);
          if (met.get(name) === 1) t.comment(`${name}: ${step.name} ${JSON.stringify(step.facts)}`);
        }
      }
      t.comment(`${steps} steps`);
      t.strictSame([...met], [], 'every invariant holds on every step');
      t.ok(steps > 10_000, 'there is something to walk');
      const never = [...seen].filter(([, times]) => times === 0).map(([name]) => name);
      t.strictSame(
        never.sort(),
        [
          'a answers nothing',
          'a answers something else',
          'a contradicts itself',
          'a rejects a hunk that is committed',
          'b attaches without control token',
          'b opens the network',
          'nobody approves',
          ...(local === 'none' ? ['the screen reclaims'] : []),
        ].sort(),
        'what must be refused always is, and everything else is taken somewhere',
      );
    },
  );
}
