import type { SessionDoor } from '../../screen/session-door.ts';

const page = 200;

/** The thread of this repository that a word names: its id, or the beginning of one alone. `undefined`: none. */
export async function findThread(
  { threads }: Pick<SessionDoor, 'threads'>,
  word: string,
): Promise<string | undefined> {
  const found = new Set<string>();
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { items, nextOffset } = await threads({ limit: page, offset });
    for (const { id } of items) {
      if (id === word) return id;
      if (id.startsWith(word)) found.add(id);
    }
    offset = nextOffset;
  }
  return found.size === 1 ? [...found][0] : undefined;
}
