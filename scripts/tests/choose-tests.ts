/** What there is to run, and what each file stands on. All paths are relative to the project, POSIX. */
export interface TestTree {
  /** Files of tests by room, in the order in which it runs them. */
  readonly rooms: ReadonlyMap<string, readonly string[]>;
  /** What a file imports or names: files, and directories with a `/` at the end. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
}

export interface TestRequest {
  /** Names of rooms and paths of files of tests. */
  readonly words: readonly string[];
  /** Files that differ; absent where nobody asked for what a change touches. */
  readonly changed?: readonly string[];
  /** Rooms that are left out unless a word or a change means them. */
  readonly without?: readonly string[];
}

/** The tests of one room that are to run. */
export interface RoomChoice {
  readonly room: string;
  readonly files: readonly string[];
  /** All of the room. */
  readonly whole: boolean;
}

export interface TestChoice {
  readonly rooms: readonly RoomChoice[];
  /** Words that are neither a room nor a file of tests. */
  readonly unknown: readonly string[];
  /** Changed files on which no test stands. */
  readonly unreached: readonly string[];
}

/** Rooms whose tests read the whole tree: every change touches them. `npm run check` runs them, `npm test` does not. */
export const checkedRooms: readonly string[] = ['house'];
/** Which packages there are, and how sources are read: every test stands on these. */
const underEverything = /^(?:package(?:-lock)?\.json|tsconfig\.json)$/;

/** Which tests a request means: all without a word, else the union of what its words and its changes mean. Pure. */
export function chooseTests({ words, changed, without = [] }: TestRequest, tree: TestTree): TestChoice {
  const all = [...tree.rooms.values()].flat();
  const isAll = words.length === 0 && changed === undefined;
  const usual = [...tree.rooms].flatMap(([room, files]) => (without.includes(room) ? [] : files));
  const chosen = new Set<string>(isAll ? usual : []);
  const unknown: string[] = [];
  for (const word of words) {
    const path = word.replace(/^\.\//, '');
    const files = tree.rooms.get(word) ?? (all.includes(path) ? [path] : undefined);
    if (files === undefined) unknown.push(word);
    for (const file of files ?? []) chosen.add(file);
  }
  const unreached: string[] = [];
  for (const path of changed ?? []) {
    const touched = touchedBy(path, tree);
    if (touched.size === 0) unreached.push(path);
    for (const file of touched) chosen.add(file);
  }
  if ((changed ?? []).length > 0)
    for (const room of checkedRooms) for (const file of tree.rooms.get(room) ?? []) chosen.add(file);
  const rooms = [...tree.rooms].flatMap(([room, files]) => {
    const wanted = files.filter((file) => chosen.has(file));
    return wanted.length === 0 ? [] : [{ room, files: wanted, whole: wanted.length === files.length }];
  });
  return { rooms, unknown, unreached };
}

/**
 * The files of tests that stand on this one, themselves or by what they import; the entry of a room stands for all of
 * its files.
 */
function touchedBy(path: string, { rooms, needs }: TestTree): ReadonlySet<string> {
  const files = new Map([...rooms].map(([room, list]) => [`test/${room}.ts`, list]));
  if (underEverything.test(path)) return new Set([...files.values()].flat());
  const neededBy = new Map<string, string[]>();
  for (const [from, list] of needs)
    for (const to of list) neededBy.set(to, [...(neededBy.get(to) ?? []), from]);
  const reached = new Set([path]);
  for (const one of reached)
    for (const place of [one, ...directoriesAbove(one)])
      for (const from of neededBy.get(place) ?? []) reached.add(from);
  const tests = new Set([...files.values()].flat());
  return new Set([...reached].flatMap((one) => files.get(one) ?? (tests.has(one) ? [one] : [])));
}

/** `a/b/c.ts` stands in `a/b/` and in `a/`. */
function directoriesAbove(path: string): readonly string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_, index) => `${segments.slice(0, index + 1).join('/')}/`);
}
