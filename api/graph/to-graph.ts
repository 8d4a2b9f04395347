import type { StoredObject } from '../../store/stored-object.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { GraphData } from '../schemas/other-schemas.ts';
import { drawRun } from './draw-run.ts';
import {
  type Described,
  type Drawing,
  eachOf,
  graphLimits,
  maxLabel,
  named,
  openDrawing,
  toDetail,
  toLine,
} from './drawing.ts';
import { type IntentRecord, parseFile, type RunRecord, type ThreadRecord } from './thread-record.ts';

/**
 * Converts a thread to a graph. Pure: the same record gives the same graph. Nodes are in order of creation, intents
 * first, newest run last. Edges lead from a cause to its result.
 */
export function toGraph({ threadId, title, intents, runs, isTruncated }: ThreadRecord): GraphData {
  const drawing = openDrawing(graphLimits.nodes, graphLimits.edges);
  const intentOf = drawIntents(drawing, threadId, intents, runs);
  for (const run of runs) drawRun(drawing, run, intentOf(run));
  const { nodes, edges } = drawing;
  const isWhole = !isTruncated && !drawing.isTruncated && runs.every((run) => run.isWhole);
  return {
    thread_id: threadId,
    title: toLine(title ?? '', maxLabel) || titleOf(nodes, threadId),
    nodes,
    edges,
    ...(isWhole ? {} : { truncated: true }),
  };
}

/** Returns the current label of the thread's intent. */
function titleOf(nodes: GraphData['nodes'], threadId: string): string {
  return nodes.find(({ id, kind }) => kind === 'intent' && id === threadId)?.label ?? `thread ${threadId}`;
}

/** The node of the intent that a run was started for. */
type IntentOf = (run: RunRecord) => string | undefined;

/**
 * Draws the intent of a thread, with one node for each spec version that was recorded or run. Also draws the intents
 * it superseded and those that superseded it.
 */
function drawIntents(
  drawing: Drawing,
  threadId: string,
  intents: readonly IntentRecord[],
  runs: readonly RunRecord[],
): IntentOf {
  const records = intents.map((record) => ({
    ...record,
    parsed: parseFile('intent', record.intent),
    history: record.events.map((event) => parseFile('intent_event', event)),
  }));
  const own = records.find(({ parsed }) => parsed.id === threadId);
  const contracts = new Map(runs.map((run) => [run, intentOf(run)] as const));
  const versions = versionsOf(contracts);
  const current = own?.parsed.object?.intentspec_digest ?? [...versions.keys()].at(-1);
  const nodes = new Map<string, string | undefined>();
  const isRecorded = own?.parsed.object !== undefined;
  for (const [digest, version] of versions) {
    if (digest === current && isRecorded) continue;
    const id = digest === current ? threadId : `${threadId}@${digest.slice(0, 16)}`;
    const tags = [...(digest === current ? [] : ['earlier']), ...('body' in version ? [] : ['unrecorded'])];
    const shown =
      'body' in version
        ? describeIntent(version.body, tags)
        : { label: version.summary, tags, detail: `spec: ${version.specId}\ndigest: ${digest}` };
    nodes.set(digest, drawing.add({ id, kind: 'intent', ...shown }, `${threadId}@${digest}`));
  }
  const byName = new Map<string, string | undefined>();
  for (const record of records) {
    const { parsed, history, place } = record;
    const events = history.flatMap(({ object }) => object ?? []);
    const lost = history.length - events.length;
    const status = events.findLast((event) => event.status !== undefined)?.status;
    const tags = [
      ...(status === undefined ? [] : [status]),
      ...(record === own ? [] : ['other-thread']),
      ...(lost === 0 ? [] : ['damaged']),
    ];
    const shown = parsed.object
      ? describeIntent(parsed.object, tags, events)
      : { label: 'damaged intent', tags: ['damaged', ...tags], detail: `${parsed.problem}\n${place}` };
    const node = drawing.add({ id: parsed.id ?? place, kind: 'intent', ...shown }, place);
    byName.set(nameOf(place), node);
    if (record === own && current !== undefined) nodes.set(current, node);
  }
  const chain = [...nodes].filter(([digest]) => digest !== current).map(([, node]) => node);
  const all = current === undefined ? chain : [...chain, nodes.get(current)];
  for (const [index, node] of all.entries()) drawing.connect(all[index - 1], node, 'revised');
  for (const { place, history } of records)
    for (const { object } of history) object && connectEnds(drawing, byName, nameOf(place), object);
  let unknown = current === undefined ? undefined : nodes.get(current);
  return (run) => {
    const digest = contracts.get(run)?.intentspec_digest ?? run.started?.digest ?? '';
    if (nodes.has(digest)) return nodes.get(digest);
    unknown ??= own && byName.get(nameOf(own.place));
    unknown ??= drawUnknown(drawing, threadId);
    return unknown;
  };
}

type Version =
  | { readonly body: StoredObject<'intent'> }
  | { readonly summary: string; readonly specId: string };

/** Contracts by digest in the order in which they were first run. */
function versionsOf(
  runs: ReadonlyMap<RunRecord, StoredObject<'intent'> | undefined>,
): ReadonlyMap<string, Version> {
  const versions = new Map<string, Version>();
  for (const [run, body] of runs) {
    if (body) {
      const before = versions.get(body.intentspec_digest);
      if (!before || !('body' in before)) versions.set(body.intentspec_digest, { body });
    } else if (run.started && !versions.has(run.started.digest))
      versions.set(run.started.digest, run.started);
  }
  return versions;
}

function intentOf({ files }: RunRecord): StoredObject<'intent'> | undefined {
  const file = files.find(({ path }) => path === 'intent.json');
  return file && parseFile('intent', file).object;
}

/** Last part of a ref: the intent's name as others name it, encoded. */
function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1);
}

/** Draws an intent without a recorded spec. */
function drawUnknown(drawing: Drawing, threadId: string): string | undefined {
  const detail = 'no record names its spec';
  const node = { id: threadId, kind: 'intent', label: 'missing intent', tags: ['missing'], detail } as const;
  return drawing.add(node, threadId);
}

function connectEnds(
  drawing: Drawing,
  byName: Map<string, string | undefined>,
  name: string,
  { superseded_by: next, supersedes: before }: StoredObject<'intent_event'>,
): void {
  const nodeOf = (specId: string): string | undefined => {
    const key = encodeId(specId);
    if (!byName.has(key)) {
      const detail = `intent ${specId} is named in the history of another, and not recorded here`;
      const node = {
        id: `intents/${key}`,
        kind: 'intent',
        label: 'missing intent',
        tags: ['missing'],
        detail,
      } as const;
      byName.set(key, drawing.add(node, `intents/${key}#missing`));
    }
    return byName.get(key);
  };
  if (next !== undefined) drawing.connect(byName.get(name), nodeOf(next), 'superseded-by');
  if (before !== undefined) drawing.connect(nodeOf(before), byName.get(name), 'superseded-by');
}

/** Describes one version of an intent's spec. The version on the intent's ref also shows its lifecycle events. */
function describeIntent(
  intent: StoredObject<'intent'>,
  tags: readonly string[],
  events: readonly StoredObject<'intent_event'>[] = [],
): Described {
  const { kind, id } = intent.created_by;
  return {
    label: intent.summary,
    tags: [...tags],
    detail: toDetail(
      `${intent.change_type} at ${intent.risk_level} risk`,
      intent.prompt,
      eachOf(intent.objectives, (one) => `objective: ${one}`),
      named('contract', intent.external_ids.intentspec_id),
      named('digest', intent.intentspec_digest),
      `created by: ${kind} ${id}`,
      // The last events show the current state.
      events
        .slice(-20)
        .map(({ created_at: at, kind: what, by, reason }) => `${at} ${what} by ${by}: ${reason}`),
    ),
  };
}
