import { readEarlier } from '../../../session/api/session-routes.ts';
import type { SessionDoor } from '../../../session/screen/session-door.ts';
import type { Report } from '../../../session/state/command.ts';
import { decide } from '../../../session/state/decide.ts';
import { fleeting, type Happened } from '../../../session/state/fact.ts';
import type { GivenAnswer } from '../../../session/state/interaction.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { newWorld } from '../state/walk.ts';
import { memoryThread } from '../thread/memory-thread.ts';

const proof = { from: 'local' } as const;

/** The machine of a session without anything behind it: what effects would report is said by the test. */
export function openMachineDoor(nowMs: () => number) {
  const world = newWorld();
  const thread = memoryThread(...world.journal);
  let { state } = world;
  let ids = 0;
  const told = new Set<() => void>();
  const answers: { readonly id: string; readonly given: GivenAnswer }[] = [];
  const take = (command: Parameters<typeof decide>[1]): void => {
    const atMs = nowMs();
    const newId = (): string => {
      ids += 1;
      return `id${ids}`;
    };
    const { facts } = decide(state, command, { nowMs: atMs, monotonicMs: atMs, newId });
    const happened = facts.map((fact): Happened => ({ ...fact, atMs }));
    void thread.append(happened.filter(({ type }) => !fleeting.has(type)));
    state = happened.reduce(reduce, state);
    for (const tell of told) tell();
  };
  const door: SessionDoor = {
    snapshot: () => toSnapshot(state),
    follow(tell) {
      told.add(tell);
      return () => void told.delete(tell);
    },
    submit: async (text) => take({ type: 'submit', text, proof }),
    async respond(id, given) {
      take({ type: 'respond', id, given, proof });
      answers.push({ id, given });
    },
    cancel: async () => take({ type: 'cancel', proof }),
    reclaim: async () => take({ type: 'reclaim' }),
    earlier: (ask) => readEarlier(state, ask, (page) => thread.page(page)),
    approvals: async () => [],
    revoke: async () => {},
    review: async () => {},
    diagnostics: async () => ({ sandbox: { backend: 'none', enforced: [], selfApproval: 'not_tried' } }),
    threads: async () => ({ items: [] }),
  };
  return {
    door,
    /** Answers that were accepted. */
    answers,
    get state() {
      return state;
    },
    /** What an effect of the turn that runs reports; nothing where none runs. */
    report(make: (turn: string) => Report): void {
      if (state.turn !== undefined) take(make(state.turn));
    },
    takeOver(clientId: string): void {
      take({ type: 'attach', clientId, kind: 'browser', tokenDigest: clientId, controlToken: 'missing' });
    },
    giveBack(clientId: string): void {
      take({
        type: 'detach',
        clientId,
        proof: { from: 'client', tokenDigest: clientId, controlToken: 'missing' },
      });
    },
  };
}
