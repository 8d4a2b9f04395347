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

export const jobs: Jobs = Object.fromEntries(
  labelledLanguages.flatMap((language) =>
    hostile.map((piece) => [
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
);
