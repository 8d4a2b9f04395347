import type { Place } from '../../api/place.ts';
import type { ReadGraph } from '../../session/api/graph-routes.ts';

/** Reads threads of the repository at `place` as graphs; nothing of that is loaded before somebody asks. */
export function readGraph(place: Place): ReadGraph {
  return async (threadId) => {
    const { threadGraph } = await import('../../api/graph/thread-graph.ts');
    const { firstWords, listSessionThreads, runsOfThread } = await import(
      '../../session/thread/session-threads.ts'
    );
    return threadGraph(place, threadId, {
      list: listSessionThreads,
      titleOf: firstWords,
      runsOf: runsOfThread,
    });
  };
}
