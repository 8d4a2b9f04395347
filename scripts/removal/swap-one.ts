import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Removal } from './removal.ts';
import { type Removed, readRemoved } from './remove-one.ts';
import { runNamedTest } from './run-named-test.ts';
import type { Swap } from './swap.ts';

const hook = pathToFileURL(join(import.meta.dirname, 'swap-source.ts')).href;

/** Breaks one text while the test that is named for it loads it; the tree stays as it is. */
export async function swapOne(tree: string, { file, from, to, test, fails }: Removal): Promise<Removed> {
  const path = join(tree, file);
  const found = readFileSync(path, 'utf8').split(from).length - 1;
  if (found !== 1) return { fault: `its text stands ${found} times in the file`, failed: [], seconds: 0 };
  const swap: Swap = { url: pathToFileURL(path).href, from, to, startedBy: process.pid };
  const options = [process.env.NODE_OPTIONS ?? '', `--import=${hook}`].join(' ').trim();
  const env = { NODE_OPTIONS: options, WRIT_REMOVAL: JSON.stringify(swap) };
  return readRemoved(await runNamedTest(tree, test, fails, { env, inRoom: true }), fails);
}
