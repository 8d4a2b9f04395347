import { type Guard, within } from './guard.ts';

const shared = 'test/attack/one-world/shared-state.test.ts';
const carry = 'test/attack/one-world/carry.test.ts';
const hostile = 'test/attack/one-world/hostile-workspaces.test.ts';

/** What keeps checks apart, and what they are given of the repository. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/open-workspace.ts', shared, [
    [
      'a place where no check was',
      "const place = await mkdtemp(join(this.#root, 'world-'));",
      "const place = join(this.#root, 'world'); await mkdir(place, { recursive: true });",
      'checks that run at the same time',
    ],
    [
      'objects of their own',
      'made ??= (async () => {',
      'made ??= (async () => { return { ...scratch, shallow: [] };',
      'a private branch and a stash',
    ],
  ]),
  ...within('engine/vcs/sealed-objects.ts', shared, [
    [
      'nothing is borrowed once it is sealed',
      "await rm(join(sealed.objectsDir, 'info', 'alternates'));",
      '',
      'a private branch and a stash',
    ],
    [
      'history ends where it is cut',
      'const shallow = commit === undefined ? [] : await findBoundary(from, commit, history);',
      'const shallow: readonly string[] = history === undefined && commit ? await findBoundary(from, commit, 1) : [];',
      'a private branch and a stash',
    ],
  ]),
  ...within('engine/run/judge/carry/tracked-carry.ts', carry, [
    [
      'what is tracked is not carried',
      'if (!found.has(path) && pathsOverlap(one, folded)) found.set(path, entry.path);',
      'if (path === one && folded === one) found.delete(path);',
      'what the candidate tracks',
    ],
    [
      'names are one whatever their case',
      "return path.normalize('NFC').toLowerCase();",
      'return path;',
      'what the candidate tracks',
    ],
  ]),
  ...within('engine/run/judge/carry/take-carried.ts', carry, [
    [
      'links stay inside',
      'if (leadsOut(next, target))',
      "if (target === '' && leadsOut(next, target))",
      'what leads out',
    ],
    [
      'no way up behind a name',
      "if (ups >= 0 && parts.slice(ups).includes('..')) return true;",
      '',
      'what leads out',
    ],
    ['no repository in it', "if (name.toLowerCase() === '.git')", "if (name === '')", 'what leads out'],
    [
      'how many there are',
      'return ++entries <= limits.entries;',
      'entries += 1; return true;',
      'what is handed on is bounded',
    ],
  ]),
  ...within('engine/run/judge/carry/carry-store.ts', carry, [
    [
      'what was handed on is what it was',
      "if ('fault' in found || found.sha256 !== sha256) return false;",
      "if ('fault' in found) return false;",
      'a run that was stopped goes on where what was handed on is not',
    ],
  ]),
  ...within('engine/vcs/remove-tree.ts', hostile, [
    [
      'a link is removed, not what it leads to',
      'if (!isDirectory(root)) return unlinkIfThere(root);',
      '',
      'what is removed is what stands there',
    ],
    [
      'any depth',
      'inner.some((child) => child.length > maxPathBytes)',
      'inner.length < 0',
      'an ordinary user removes',
    ],
    [
      'rights that were taken away',
      'chmodSync(directory, 0o700);\n    return act();',
      'return act();',
      'an ordinary user removes',
    ],
  ]),
];
