/*
 * `npm run compare [-- CORPUS…] [--package DIR]`: runs the published package of the baseline commit and the package of
 * the working tree side by side and lists every difference that `fixtures/compatibility/changes.json` does not explain.
 * `--package` names an unpacked package to compare with instead. Exit 1: a difference without an entry, an entry
 * without a difference, or a portion that could not be run. Exit 2: the baseline is not built, or a corpus is unknown.
 */

import { resolve } from 'node:path';
import { toldSeed } from '../test/chance/told-seed.ts';
import { packPackage } from '../test/doors/packed-package.ts';
import { findBaseline } from './compatibility/baseline.ts';
import { compareVersions } from './compatibility/compare.ts';
import { corpora } from './compatibility/corpora.ts';
import { explain, readChanges } from './compatibility/explain.ts';
import { render } from './compatibility/render.ts';
import { parseFlags, refuse } from './parse-flags.ts';

const { values, positionals } = parseFlags({ package: { type: 'string' } });
const names = corpora.map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
const found = findBaseline();

if (unknown.length > 0) refuse(`No corpus is named ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
else if ('missing' in found) refuse(found.missing);
else {
  const seed = toldSeed({ comment: (text) => process.stderr.write(`${text}\n`) });
  const changes = readChanges();
  const chosen = positionals.length === 0 ? names : positionals;
  const comparison = await compareVersions({
    baseline: found.packageDirectory,
    candidate: values.package === undefined ? packPackage() : resolve(values.package),
    corpora: positionals,
    seed,
    isExplained: (one) => explain([one], changes, chosen).unexplained.length === 0,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  const explained = explain(comparison.found, changes, chosen);
  process.stdout.write(render(comparison, explained));
  const isEqual =
    explained.unexplained.length === 0 && explained.unneeded.length === 0 && comparison.faults.length === 0;
  process.exitCode = isEqual ? 0 : 1;
}
