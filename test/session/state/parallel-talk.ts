import type { TurnReport } from '../../../session/state/command.ts';
import { newWorld, take, type World } from './walk.ts';

/** A session as it went, and everything that its transcript ever showed, by id, in that order. */
export interface ParallelTalk {
  readonly world: World;
  readonly shown: readonly string[];
}

/**
 * A session in which several replies are said side by side, tools end long after they began, plans are stated twice, and
 * turns end in the middle of replies. It ends with its turn.
 */
export function parallelTalk(random: () => number, steps: number): ParallelTalk {
  const among = <T>(...ones: readonly T[]): T => ones[Math.floor(random() * ones.length)] as T;
  const shown: string[] = [];
  let world = newWorld();
  let ids = 0;
  let replies: string[] = [];
  let tools: string[] = [];
  const step = (command: Parameters<typeof take>[2]): void => {
    const before = lengthOf(world);
    world = take('', world, command, Math.floor(random() * 50)).after;
    const more = lengthOf(world) - before;
    if (more > 0) shown.push(...world.state.transcript.slice(-more).map(({ id }) => id));
  };
  const report = (told: TurnReport): void => step({ ...told, turn: world.state.turn ?? 'none' } as never);
  const fresh = (kind: string): string => {
    ids += 1;
    return `${kind}${ids}`;
  };
  const begin = (list: string[], kind: string, most: number): string => {
    if (list.length < most) list.push(fresh(kind));
    return among(...list);
  };
  const end = (): void => {
    report({ type: 'end', end: among('done', 'failed'), ...among({}, { reason: 'so it was' }) });
    [replies, tools] = [[], []];
  };
  const moves: readonly (() => void)[] = [
    () => report({ type: 'replying', id: begin(replies, 'reply', 4), text: `${fresh(' piece')}` }),
    () => report({ type: 'replying', id: begin(replies, 'reply', 4), text: ' and' }),
    () => {
      const [id] = replies.splice(Math.floor(random() * replies.length), 1);
      if (id !== undefined) report({ type: 'replied', id, text: `all of ${id}` });
    },
    () => report({ type: 'replied', id: fresh('reply'), text: 'at once' }),
    () => report({ type: 'tool', id: begin(tools, 'tool', 3), toolName: 'read', status: 'running' }),
    () => {
      const [id] = tools.splice(Math.floor(random() * tools.length), 1);
      const status = among('completed', 'failed');
      if (id !== undefined) report({ type: 'tool', id, toolName: 'read', status, summary: `${id} is over` });
    },
    () => report({ type: 'noted', id: fresh('note'), text: 'noted', ...among({}, { title: 'Note' }) }),
    () => {
      const plan = { id: `plan${among(ids, 1)}`, title: 'a plan', status: 'running' } as const;
      report({ type: 'planned', plan: { ...plan, steps: [{ id: '1', step: 'a step', status: 'pending' }] } });
    },
    () => {
      const status = among('proposed', 'accepted', 'rejected');
      const changes = [{ path: 'a', changeType: 'modify', diff: '@@\n-x\n+y\n' }];
      const patchset = { id: `patch${among(ids, 1)}`, status, changes } as const;
      report({ type: 'patched', patchset, isWhole: true });
    },
    () => {
      if (random() < 0.2) end();
    },
  ];
  for (let at = 0; at < steps; at += 1) {
    if (world.state.turn === undefined)
      step({ type: 'submit', text: `do ${at}`, commandId: `c${at}`, proof: { from: 'local' } });
    else among(...moves)();
  }
  if (world.state.turn !== undefined) end();
  return { world, shown };
}

function lengthOf({ state: { earlier, transcript } }: World): number {
  return earlier + transcript.length;
}
