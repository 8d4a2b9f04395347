import { type Guard, within } from './guard.ts';

const asked = 'test/coder/ask-version-control.test.ts';
const hidden = 'what the rules hide is in no answer';
const words = 'nothing but known words is taken';

/** What a model gets to see of version control, and how little it can ask. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/vcs/answer-vcs.ts', asked, [
    ['what is hidden stays so in history', 'asking.shows(path) &&', '', hidden],
  ]),
  ...within('engine/run/work/vcs/judge-vcs.ts', asked, [
    [
      'nothing is changed without a person',
      "(action === 'write' ? needsPerson(command) : undefined) ??",
      '',
      words,
    ],
  ]),
  ...within('engine/run/work/vcs/parse-vcs.ts', asked, [
    ['paths without magic', "if (word.startsWith(':')) return undefined;", '', words],
    ['no name of a ref passes for a path', 'if (!onlyPaths && !namesPaths.has(name))', 'if (false)', words],
  ]),
];
