import type { Seen } from '../seen.ts';

interface Element {
  readonly id: string;
}

const lists = ['transcript', 'plans', 'tasks', 'toolCalls', 'patchsets', 'interactions'] as const;

/**
 * A newer snapshot with what is the same in the older one as the very objects of that: what has not changed is not
 * drawn again, however the page came by it. Pure.
 */
export function withShared(old: Seen | undefined, now: Seen): Seen {
  if (old === undefined || old.threadId !== now.threadId) return now;
  return { ...now, ...Object.fromEntries(lists.map((name) => [name, sharedList(old[name], now[name])])) };
}

function sharedList(old: readonly Element[], now: readonly Element[]): readonly Element[] {
  const known = new Map(old.map((one) => [one.id, one]));
  const list = now.map((one) => {
    const before = known.get(one.id);
    return before !== undefined && isSame(before, one) ? before : one;
  });
  return list.length === old.length && list.every((one, at) => one === old[at]) ? old : list;
}

/** Of values as JSON has them. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === others.length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name as never], other[name as never]))
  );
}
