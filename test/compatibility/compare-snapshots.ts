import { isDeepStrictEqual } from 'node:util';

/** Something that differs from bc4e9f22 on purpose: an entry of `interfaces` in `changes.json`. */
export interface InterfaceChange {
  /** Name of the snapshot's file, without `.json`. */
  readonly snapshot: string;
  /** JSON pointer (RFC 6901) to the value; `/-` at its end stands for one item of a list. */
  readonly path: string;
  /** The value at bc4e9f22; absent: there was none. */
  readonly old?: unknown;
  /** The value now; absent: there is none any more. */
  readonly new?: unknown;
  readonly reason: string;
}

/** One place where a snapshot and the product differ. */
export type Difference = Omit<InterfaceChange, 'reason'>;

/**
 * The snapshot as the recorded changes make it. Throws where a change does not fit: its old value is not that of the
 * snapshot.
 */
export function applyChanges(name: string, snapshot: unknown, changes: readonly InterfaceChange[]): unknown {
  const changed = structuredClone(snapshot);
  for (const change of changes.filter((one) => one.snapshot === name)) {
    const misfit = (why: string): Error =>
      new Error(`changes.json: \`${change.path}\` of \`${name}\` does not fit: ${why}`);
    if (change.reason.trim() === '') throw misfit('it has no reason');
    const keys = change.path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    const parent = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), changed);
    if (Array.isArray(parent) && last === '-') {
      const at = parent.findIndex((item) => isDeepStrictEqual(item, change.old));
      if ('old' in change && at === -1) throw misfit('the list of bc4e9f22 has no such item');
      if ('old' in change) parent.splice(at, 1);
      if ('new' in change) parent.push(change.new);
      continue;
    }
    if (!isObject(parent) || Array.isArray(parent)) throw misfit('bc4e9f22 has nothing there');
    const before = Object.hasOwn(parent, last) ? parent[last] : undefined;
    if (!isDeepStrictEqual(before, change.old)) throw misfit(`bc4e9f22 has ${JSON.stringify(before)} there`);
    if ('new' in change) parent[last] = change.new;
    else delete parent[last];
  }
  return changed;
}

/** Every place where two values differ. A list is a set: its order says nothing. */
export function differences(
  snapshot: string,
  expected: unknown,
  actual: unknown,
  path = '',
): readonly Difference[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const without = (some: readonly unknown[], others: readonly unknown[]) =>
      some.filter((one) => !others.some((other) => isDeepStrictEqual(one, other)));
    return [
      ...without(expected, actual).map((item) => ({ snapshot, path: `${path}/-`, old: item })),
      ...without(actual, expected).map((item) => ({ snapshot, path: `${path}/-`, new: item })),
    ];
  }
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) || Array.isArray(actual))
    return [{ snapshot, path, old: expected, new: actual }];
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key): readonly Difference[] => {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(actual, key)) return [{ snapshot, path: inner, old: expected[key] }];
    if (!Object.hasOwn(expected, key)) return [{ snapshot, path: inner, new: actual[key] }];
    return differences(snapshot, expected[key], actual[key], inner);
  });
}

/** What a reader does about a difference: revert the change of the interface, or record it. */
export function explain({ snapshot, path, ...values }: Difference): string {
  const entry = { snapshot, path, ...values, reason: '…' };
  const shown = (side: 'old' | 'new'): string => (side in values ? JSON.stringify(values[side]) : 'absent');
  return [
    `Snapshot \`${snapshot}\`, \`${path}\`: bc4e9f22 (with changes.json) has ${shown('old')}, the program has ${shown('new')}.`,
    'If the change is intended, add this to `interfaces` in fixtures/compatibility/changes.json with its reason,',
    'or correct the entry that is there:',
    JSON.stringify(entry),
  ].join('\n');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
