import { toRfc3339 } from '../../core/base/clock.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listThreads } from '../thread/list-threads.ts';
import { threadDirectory } from '../thread/open-thread.ts';
import { readThread } from '../thread/read-thread.ts';
import type { McpThreads } from './mcp-ground.ts';

const maxListed = 50;

/**
 * The threads of a repository for resources: the list as `GET /api/code/threads` has it; of one thread what was said,
 * and whether somebody here vouches for it.
 */
export function threadsOf(
  repository: Pick<Repository, 'commonDir'>,
  witness: Pick<JournalWitness, 'look'>,
): McpThreads {
  return {
    list: async () =>
      (await listThreads(repository, { limit: maxListed, offset: 0 })).items.map((item) => ({ ...item })),
    async read(id) {
      const { transcript, earlier, proven } = await readThread(threadDirectory(repository, id), id, witness);
      const said = transcript.map(({ createdAtMs, kind, title, content }) => ({
        kind,
        ...(title === undefined ? {} : { title }),
        ...(content === undefined ? {} : { content }),
        createdAt: toRfc3339(createdAtMs),
      }));
      return { id, proven: proven !== undefined, earlier, transcript: said };
    },
  };
}
