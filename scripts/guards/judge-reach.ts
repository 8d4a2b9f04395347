import { type Guard, within } from './guard.ts';

const changed = 'test/gates/rules/judge-changed.test.ts';
const found = 'what checks execute to judge is found';

/** Guards of what is followed from the commands of checks. */
export const guards: readonly Guard[] = [
  ...within('readers/judges/quoted-paths.ts', changed, [
    ['a path in parts is one', "path === '' ? part :", 'true ? part :', found],
    [
      'a path behind an expression is one',
      "written.replace(/\\$?\\{[^{}\\n]{1,200}\\}\\//g, '')",
      'written',
      found,
    ],
  ]),
  ...within('engine/run/judge/reach/text-leads.ts', changed, [
    [
      'a shell script that goes to its own directory runs there',
      "new Set(['', directory])",
      "new Set([''])",
      found,
    ],
  ]),
  ...within('readers/judges/serves-judging.ts', changed, [
    [
      'what a configuration names may stand among tests',
      'return testPlaces.test(path) || !productPlaces.test(path);',
      'return false;',
      found,
    ],
    ['a directory of rules is one', 'return judgingDirectory.test(path) &&', 'return false &&', found],
    [
      'data of the product is no judge',
      'return data.test(path) && !isOfProductOrTests(path);',
      'return data.test(path);',
      found,
    ],
  ]),
  ...within('readers/judges/rule-directories.ts', changed, [
    ['a directory of rules by option counts', '/^--?(?:rules?-?dirs?|rulesdir|', '/^--?(?:', found],
    ['conftest has a directory of its own', "given.push('policy')", '[]', found],
  ]),
  ...within('readers/judges/loop-files.ts', changed, [
    ['what a loop sources counts', "loop === 'for' && within === 'in'", 'false', found],
  ]),
  ...within('engine/run/judge/reach/following.ts', changed, [
    ['new files of a directory of rules count', '/**/*` }', '/none` }', found],
    ['a linked configuration leads to its file', 'if (links.length > 0) {', 'if (false) {', found],
    [
      'a file of tests that a configuration names is one',
      'isAmongTests(path) && cases.test(text)',
      'false',
      found,
    ],
  ]),
  ...within('engine/run/judge/second-run/find-judge.ts', changed, [
    ['the contents of configuration count', 'while (following.configure());', 'while (false);', found],
  ]),
  ...within('readers/judges/config-leads.ts', changed, [
    ['what a linter leaves out is no judge', "return plain.replace(inLists, ' ');", 'return plain;', found],
    [
      'what a package says of its product is no judge',
      '.filter((section) => toolSection.test(section))',
      '',
      found,
    ],
    ['plugins of Python are files', '...pluginFiles(name, told)', '', found],
    ['a loader is a program', 'loaders.test(word) ? programOf(word) : []', '[]', found],
  ]),
  ...within('readers/judges/named-by-command.ts', changed, [
    ['a variable in front is no program', 'if (assignment.test(word)) return true;', '', found],
    [
      'a variable may load',
      'if (assignment.test(word)) named.push(...ofAssignment(word, fileAt));',
      ';',
      found,
    ],
  ]),
  ...within('gates/judge-changed/new-place.ts', changed, [
    [
      'a directory that was there is not new',
      '!readyFor(reach).isThere(configuredDirectory(path))',
      'true',
      found,
    ],
    [
      'what is read where nothing runs does not count',
      "directory === '' || isRun(directory) || above.has(directory)",
      'true',
      found,
    ],
    ['packages among fixtures take no place', '|| isFixture(directory)', '', found],
    [
      'a tracked package takes the place of an installed one',
      "return isThere(directory.slice(0, -1)) && changeType !== 'delete' ? name : undefined;",
      'return undefined;',
      found,
    ],
  ]),
  ...within('gates/rules/judge-changed.ts', changed, [
    [
      'lint in the manifest of a new package counts',
      '(parts ?? []).filter((part) => ofLint.test(part))',
      '[]',
      found,
    ],
    [
      'a configuration that leaves its place counts',
      '(oldPath === undefined ? undefined : counts(oldPath))',
      'undefined',
      'a configuration that moves to where nothing runs it',
    ],
  ]),
  ...within('engine/run/judge/ask-rules.ts', 'test/attack/judge/changed-judge.test.ts', [
    [
      'what the policy commit has run judges',
      'policyTree === undefined ? base :',
      'true ? base :',
      'what only the policy commit has run',
    ],
  ]),
  ...within('engine/run/judge/reach/join-reach.ts', 'test/engine/run/judge/reach/join-reach.test.ts', [
    [
      'a script in one version is no mere test',
      "known !== undefined && file.role === 'test' ? known : file",
      'file',
      'what either version reaches',
    ],
  ]),
];
