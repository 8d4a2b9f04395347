import { labelledLanguages, readSample } from '../../../bench/labelled-cases.ts';
import { judge } from '../../../gates/rules/no-direct-eval.ts';
import { toRuleInput } from '../../../testing.ts';
import type { Jobs } from '../count-work.ts';
import { repeated } from '../of-pieces.ts';

const hostile = [
  ...["'", '"', '`', '/*', '/[', '${', '(', 'spawn(', '\\u{', '<<A ', '$(', 'q( ', '%w( ', 'f"{', '"#{'],
];

/**
 * What closes a bracket of a quote, or a comment in comments, is sought from each of them: within the bound on that
 * (`readTokens`, `parseBudget`) it is a square.
 */
const squares: ReadonlySet<string> = new Set(['perl q( ', 'kotlin /*']);

/** Lists and tables that hold themselves many times, as the words and options of a command. */
const ofThemselves: Readonly<Record<string, (pieces: (piece: string) => string) => string>> = {
  'x.js': (pieces) =>
    `const { spawn } = require('child_process');\nx = [${pieces('x, ')}];\nd = {${pieces('...d, ')}};\nspawn('sh', x, d);\n`,
  'x.py': (pieces) =>
    `import subprocess\nx = [${pieces('x, ')}]\nd = {${pieces('**d, ')}}\nsubprocess.run(x, **d)\n`,
};

export const jobs: Jobs = Object.fromEntries([
  ...Object.entries(ofThemselves).map(([path, text]): [string, Jobs[string]] => [
    `${path}: lists and tables of themselves`,
    {
      prepare: (size: number) => {
        const candidate = text((piece) => repeated(piece, size));
        const input = toRuleInput({ name: 'x', files: { [path]: { candidate } } });
        return () => judge(input);
      },
      size: 500,
    },
  ]),
  ...labelledLanguages.flatMap((language) =>
    hostile.map((piece): [string, Jobs[string]] => [
      `${language}: ${piece}`,
      {
        prepare: (size: number) => {
          const candidate = `eval(x)\n${repeated(piece, size)}\n`;
          const input = toRuleInput({ name: 'x', files: { [readSample(language).path]: { candidate } } });
          return () => judge(input);
        },
        size: 500,
        ...(squares.has(`${language} ${piece}`) ? { slack: 2 } : {}),
      },
    ]),
  ),
]);
