import { globSync } from 'node:fs';
import { testToolPlace } from '../../../scripts/test-tools.ts';

const platform = `${process.platform}-${process.arch}`;

/** Pattern of the program below its place; `undefined` on a platform that the tests know no package for. */
export const codexProgram = ['linux-x64', 'linux-arm64'].includes(platform)
  ? `node_modules/@openai/codex-${platform}/vendor/*/bin/codex`
  : undefined;

const place = testToolPlace('codex');
const [found] = codexProgram === undefined ? [] : globSync(codexProgram, { cwd: place });

/** The real program, and the reason to skip tests with it if it is missing. */
export const codexBin = found === undefined ? '' : `${place}/${found}`;
export const codexSkip =
  found === undefined ? 'the codex program is not in the cache: `node scripts/setup-tests.ts`' : false;
