import { systemClock } from '../../core/base/clock.ts';
import { joinStores } from '../../engine/store/join-stores.ts';
import { openStores } from '../../engine/store/open-stores.ts';
import { listRecordRefs } from '../../engine/store/record/list-record-refs.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import type { Place } from '../place.ts';
import type { GraphData } from '../schemas/graph-schema.ts';
import { findThread } from './find-thread.ts';
import { joinGraphs } from './join-graphs.ts';
import { knownThreads } from './known-threads.ts';
import { readIntents } from './read-intents.ts';
import { readRuns } from './read-runs.ts';
import { createRecordReader } from './record-reader.ts';
import { createRunReader } from './run-reader.ts';
import { toGraph } from './to-graph.ts';

/** Threads that no run may tell of yet, and what they are called: those of sessions. */
export interface NamedThreads {
  list(repository: Repository): Promise<readonly string[]>;
  titleOf(repository: Repository, threadId: string): Promise<string | undefined>;
  /** Ids of the runs that a session has begun; untrusted. */
  runsOf(repository: Repository, threadId: string): Promise<readonly string[]>;
}

/**
 * The thread of that id, or of which it is an unambiguous beginning, as a graph (document 2, synopsis `graph`).
 * NOT_A_REPOSITORY, THREAD_NOT_FOUND.
 */
export async function threadGraph(
  context: Place,
  wanted: string,
  sessions: NamedThreads,
): Promise<GraphData> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const open = await openStores(context.stores, repository, systemClock);
  const objects = joinStores(open);
  const reader = createRecordReader(repository, objects);
  const known = await knownThreads(repository, reader, {
    runs: await listRecordRefs(repository, open, 'runs'),
    intents: await listRecordRefs(repository, open, 'intents'),
  });
  const threadId = findThread(wanted, known, await sessions.list(repository));
  const title = await sessions.titleOf(repository, threadId);
  const named = title === undefined ? { threadId } : { threadId, title };
  const own = new Set(await sessions.runsOf(repository, threadId));
  // A session has a thread of its own; each intent that was drafted in it begins another.
  const threads = new Set(known.runs.flatMap((run) => (own.has(run.runId) ? [run.threadId] : [])));
  const isIntent = [...known.runs, ...known.intents].some((one) => one.threadId === threadId);
  const runReader = createRunReader(repository, objects, reader);
  const parts: GraphData[] = [];
  for (const thread of isIntent || threads.size === 0 ? [threadId, ...threads] : threads)
    parts.push(
      toGraph({
        ...(thread === threadId ? named : { threadId: thread }),
        intents: await readIntents(reader, known.intents, thread),
        ...(await readRuns(
          runReader,
          known.runs.filter((run) => run.threadId === thread),
        )),
      }),
    );
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.thread_id === threadId
    ? only
    : joinGraphs(named, parts);
}
