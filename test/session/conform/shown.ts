import type { Snapshot } from '../../../session/state/snapshot.ts';
import type { Json } from '../../engine/sample.ts';

/** What scripts say of a snapshot: no id, no time. */
export function shown(snapshot: Snapshot) {
  const { status, controller, interactions, plans, tasks, patchsets, toolCalls, transcript, goal } = snapshot;
  return {
    status,
    controller: controller.kind,
    pending: interactions
      .filter((one) => one.status === 'pending')
      .map(({ kind, title = '', metadata }) => ({ kind, title, metadata })),
    interactions: interactions.map((one) => [one.kind, one.status]),
    plans: plans.map((one) => one.status),
    tasks: tasks.map((one) => one.status),
    patchsets: patchsets.map((one) => one.status),
    toolCalls: toolCalls.map((one) => [one.toolName, one.status, one.summary ?? '']),
    ...(goal === undefined ? {} : { goal: { ...goal, criteria: goal.criteria.map((one) => one.status) } }),
    transcript: transcript.map(({ kind, content = '' }) => [kind, content]),
  };
}

/** A whole snapshot without what differs from one session to the next: ids, times, digests, places. */
export function normalised(snapshot: Snapshot, root: string): Snapshot {
  const names = new Map<string, string>();
  const named = (found: string): string => {
    const name = names.get(found) ?? `#${names.size + 1}`;
    names.set(found, name);
    return name;
  };
  const text = JSON.stringify(snapshot)
    .replaceAll(root, '<root>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replace(/\b\d+ ms\b/g, '<time>')
    .replace(
      /"seconds":\{"used":\d+,"limit":(\d+)/g,
      // A grant is one whole one beyond what was used.
      (_, limit) => `"seconds":{"used":0,"limit":${Math.floor(Number(limit) / 100) * 100}`,
    )
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named)
    .replace(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g, named)
    // An entry of a diff is called after when it was made, too.
    .replace(/"diff-(#\d+)-\d+"/g, '"diff-$1"');
  return JSON.parse(text) as Snapshot;
}

/**
 * Where `found` is not as `expected`: objects may hold more, lists may not, and a text is the same, or holds the words
 * of `{"has": …}`.
 */
export function differences(found: unknown, expected: Json, at = 'snapshot'): readonly string[] {
  const differs = [`${at}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`];
  if (typeof expected !== 'object' || expected === null) return found === expected ? [] : differs;
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return differs;
    return expected.flatMap((one, index) => differences(found[index], one, `${at}[${index}]`));
  }
  const members = expected as { readonly [name: string]: Json };
  if (typeof members.has === 'string')
    return typeof found === 'string' && found.includes(members.has) ? [] : differs;
  if (typeof found !== 'object' || found === null) return differs;
  const given = found as Readonly<Record<string, unknown>>;
  return Object.entries(members).flatMap(([name, one]) => differences(given[name], one, `${at}.${name}`));
}
