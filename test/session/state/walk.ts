import type { ErrorCode } from '../../../core/base/error-codes.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { Command, Want } from '../../../session/state/command.ts';
import { decide } from '../../../session/state/decide.ts';
import {
  type Fact,
  fleeting,
  type Happened,
  type Proof,
  type SessionGround,
} from '../../../session/state/fact.ts';
import type { GivenAnswer } from '../../../session/state/interaction.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { allCapabilities } from '../../../session/state/snapshot.ts';
import { pendingOf, type SessionState } from '../../../session/state/state.ts';

/** A session, and what its clients know of it. */
export interface World {
  readonly state: SessionState;
  readonly nowMs: number;
  readonly ids: number;
  /** Digest of the last token of each client; it goes on using it. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The first interaction that each client saw, answered or not. */
  readonly seen?: string;
  /** Facts that a journal would hold. */
  readonly journal: readonly Happened[];
}

export interface Step {
  readonly name: string;
  readonly before: World;
  readonly after: World;
  readonly command: Command;
  readonly facts: readonly Fact[];
  readonly wants: readonly Want[];
  readonly refusal?: ErrorCode;
}

export const ground = (more: Partial<SessionGround> = {}): SessionGround => ({
  sessionId: 's',
  threadId: 't',
  workingDir: '/w',
  provider: { provider: 'none', managed: false },
  capabilities: allCapabilities,
  context: 'dev',
  networkAccess: 'deny',
  named: [],
  onlyReads: false,
  local: 'tui',
  attachable: ['browser', 'automation'],
  goalBudget: { tokens: 100_000, costUsd: 1, workMs: 600_000 },
  ...more,
});

export function newWorld(more: Partial<SessionGround> = {}): World {
  const opened: Happened = { type: 'opened', ground: ground(more), atMs: 0 };
  const changes = [{ path: 'x', changeType: 'modify', hunks: [{ id: 'h', header: '@@' }] }];
  const patched = (id: string, status: 'proposed' | 'accepted'): Happened => ({
    type: 'patched',
    patchset: { id, status, changes },
    atMs: 0,
  });
  const patches = [patched('proposed', 'proposed'), patched('accepted', 'accepted')];
  const state = patches.reduce(reduce, openedState(opened));
  return { state, nowMs: 0, ids: 0, tokens: {}, journal: [opened, ...patches] };
}

/** One command, at a time: what it came to, or why it was refused. */
export function take(name: string, before: World, command: Command, passMs = 0): Step {
  const nowMs = before.nowMs + passMs;
  let { ids } = before;
  const newId = (): string => {
    ids += 1;
    return `i${ids}`;
  };
  try {
    const { facts, wants, lease } = decide(before.state, command, { nowMs, monotonicMs: nowMs, newId });
    const happened = facts.map((fact): Happened => ({ ...fact, atMs: nowMs }));
    const state = happened.reduce(reduce, before.state);
    const tokens =
      command.type === 'attach' && lease !== undefined
        ? { ...before.tokens, [command.clientId]: lease.tokenDigest }
        : before.tokens;
    const seen = before.seen ?? pendingOf(state)[0]?.id;
    const journal = [...before.journal, ...happened.filter(({ type }) => !fleeting.has(type))];
    const after = { state, nowMs, ids, tokens, ...(seen === undefined ? {} : { seen }), journal };
    return { name, before, after, command, facts, wants };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return { name, before, after: { ...before, nowMs }, command, facts: [], wants: [], refusal: fault.code };
  }
}

const local: Proof = { from: 'local' };

/** Every command that two clients, a screen, a model and time can send next. */
export function moves(world: World): readonly (readonly [name: string, command: Command, passMs?: number])[] {
  const { state, tokens, ids } = world;
  const proof = (client: string): Proof => {
    const tokenDigest = tokens[client];
    return { from: 'client', controlToken: 'valid', ...(tokenDigest === undefined ? {} : { tokenDigest }) };
  };
  const asked = pendingOf(state)[0]?.id;
  const attach = (clientId: string, kind: string, controlToken: 'missing' | 'valid' = 'valid'): Command => ({
    type: 'attach',
    clientId,
    kind,
    controlToken,
    tokenDigest: `digest-${clientId}-${ids}`,
  });
  const respond = (by: Proof, given: GivenAnswer, id = asked): readonly Command[] =>
    id === undefined ? [] : [{ type: 'respond', id, given, proof: by }];
  const named = (name: string, commands: readonly Command[]) =>
    commands.map((command) => [name, command] as const);
  const turn = state.turn ?? 'none';
  const hunk = { type: 'review', path: 'x', hunk: 'h' } as const;
  return [
    ['a attaches', attach('a', 'browser')],
    ['b attaches', attach('b', 'automation')],
    ['b attaches without control token', attach('b', 'automation', 'missing')],
    ['another browser attaches', attach('c', 'browser')],
    ['a detaches', { type: 'detach', clientId: 'a', proof: proof('a') }],
    ['b detaches', { type: 'detach', clientId: 'b', proof: proof('b') }],
    ['a submits', { type: 'submit', text: 'xyz', commandId: 'c', proof: proof('a') }],
    ['b submits', { type: 'submit', text: 'yzx', commandId: 'c', proof: proof('b') }],
    ['the screen submits', { type: 'submit', text: 'zxy', proof: local }],
    ['b opens the network', { type: 'submit', text: '/network allow', proof: proof('b') }],
    ['a makes it read', { type: 'submit', text: '/context review', proof: proof('a') }],
    ['b makes it write', { type: 'submit', text: '/context dev', proof: proof('b') }],
    ...named('a approves', respond(proof('a'), { selectedOption: 'approve' })),
    ...named('b approves', respond(proof('b'), { approved: true })),
    ...named('the screen approves', respond(local, { selectedOption: 'approve' })),
    ...named('nobody approves', respond({ from: 'client', controlToken: 'valid' }, { approved: true })),
    ...named('a contradicts itself', respond(proof('a'), { selectedOption: 'approve', approved: false })),
    ...named('a answers nothing', respond(proof('a'), {})),
    ...named('a answers something else', respond(proof('a'), { selectedOption: 'yes' })),
    ...named('a allows everything', respond(proof('a'), { selectedOption: 'allow_all_commands' })),
    ...named('a denies', respond(proof('a'), { selectedOption: 'deny' })),
    ...named('a approves what it saw first', respond(proof('a'), { approved: true }, world.seen)),
    ['a rejects a hunk', { ...hunk, patchset: 'proposed', verdict: 'reject', proof: proof('a') }],
    [
      'a rejects a hunk that is committed',
      { ...hunk, patchset: 'accepted', verdict: 'reject', proof: proof('a') },
    ],
    ['a cancels', { type: 'cancel', proof: proof('a') }],
    ['the screen reclaims', { type: 'reclaim' }],
    ['the model asks', { type: 'ask', turn, subject: 'call', kind: 'approval', metadata: {} }],
    ['the model ends', { type: 'end', turn, end: 'done' }],
    ['a minute passes', { type: 'tick' }, 60_000],
    ['two minutes pass', { type: 'tick' }, 121_000],
  ];
}

/** Two worlds of one key are the same but for names and past times. */
export function keyOf({ state, nowMs, tokens, seen }: World): string {
  const names = new Map<string, number>();
  const renamed = JSON.stringify([stateToKey(state, nowMs), tokens, seen ?? null]).replace(
    /"(?:i\d+|digest-[abc]-\d+)"/g,
    (name) => {
      if (!names.has(name)) names.set(name, names.size);
      return `"#${names.get(name)}"`;
    },
  );
  return renamed;
}

function stateToKey(
  { lease, transcript: _, updatedAtMs: __, commands, ...state }: SessionState,
  nowMs: number,
) {
  const interactions = state.interactions.map(({ requestedAtMs: ___, resolvedAtMs: ____, ...one }) => one);
  const left =
    lease === undefined
      ? undefined
      : { ...lease, expiresAtMs: lease.expiresAtMs - nowMs, endsAtMs: lease.endsAtMs - nowMs };
  return { ...state, interactions, lease: left, commands: [...commands] };
}

/** Every step from `first` within `depth` commands, each world of a key once. */
export function* walk(first: World, depth: number, next: typeof moves = moves): Generator<Step> {
  const known = new Set([keyOf(first)]);
  let worlds: readonly World[] = [first];
  for (let level = 0; level < depth; level += 1) {
    const found: World[] = [];
    for (const world of worlds) {
      for (const [name, command, passMs] of next(world)) {
        const step = take(name, world, command, passMs);
        yield step;
        const key = keyOf(step.after);
        if (known.has(key)) continue;
        known.add(key);
        found.push(step.after);
      }
    }
    worlds = found;
  }
}
