import { type Guard, within } from './guard.ts';

const ambiguous = 'test/attack/verify-target/ambiguous.test.ts';
const replaced = 'test/attack/verify-target/replaced.test.ts';

/** What a target of `writ verify` means, and whether plain git shows the same. */
export const guards: readonly Guard[] = [
  ...within('api/verify/target-meanings.ts', ambiguous, [
    ['a target is one thing', 'if (more.length > 0) throw', 'if (more.length < 0) throw', 'a landed file'],
    [
      'a file is asked for as one',
      "if (meaning.kind === 'file' && !isSpelledAsFile) throw onlyAFile(target);",
      '',
      'a file under a version',
    ],
    ['HEAD is no file', "if (target === 'HEAD' || target === '@') return false;", '', '`HEAD` is the commit'],
    [
      'several runs are several things',
      'const fits = Array.isArray(fault.detail.fits) ? fault.detail.fits : [];',
      'const fits: readonly unknown[] = [];',
      'the beginning of a run',
    ],
  ]),
  ...within('engine/vcs/commits-named.ts', ambiguous, [
    [
      'a tag and a branch are two things',
      "const places = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];",
      'const places: readonly string[] = [];',
      'a tag and a branch',
    ],
    [
      'a branch may be called like a commit',
      'if (prefix === undefined) return [];',
      'if (prefix !== "") return [];',
      'a branch that is called like',
    ],
  ]),
  ...within('engine/vcs/replacements.ts', replaced, [
    [
      'a replaced commit',
      'if (objects.has(one)) effects',
      'if (one === "") effects',
      'a sealed commit that plain git',
    ],
    [
      'replaced things in a tree',
      'if (objects.has(id)) effects',
      'if (id === "") effects',
      'so is one of which plain git',
    ],
    ['replaced tags', 'if (objects.has(tag)) effects', 'if (tag === "") effects', 'so is a tag'],
    [
      'grafted parents',
      "grafted.join(' ') !== parents.join(' ')",
      'grafted === parents',
      'grafted parents are refused',
    ],
  ]),
  ...within('api/verify/find-commit.ts', replaced, [
    [
      'a replaced commit that a bundle is about',
      "if (found.length > 0) throw refuted('replaced', { found });",
      '',
      'a bundle about a commit',
    ],
  ]),
];
