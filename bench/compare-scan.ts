/* `node bench/compare-scan.ts OTHER [MB]`: compares what `secrets` and `suppressions` find in this checkout and in another one, in the sources of `node_modules` and in labelled samples that are mutilated at random. Exit 1 where this one loses something. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Finding } from '../core/interfaces/finding.ts';
import type { RuleFunction } from '../core/interfaces/rule.ts';
import { cutDiff, readBlocks } from '../gates/scan/cut-diff.ts';
import type { readPiece } from '../gates/scan/scan-pieces.ts';
import { scanSpec } from '../spec/secret-words.ts';
import { negatives, positives } from '../test/gates/secrets/labelled-set.ts';
import { randomNumbers } from '../test/readers/anchors/random-numbers.ts';
import { textFiles, writeSampleDiff } from './sample-diff.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const [, , other, megabytes = '100'] = process.argv;
if (other === undefined) throw new Error('expected the path of another checkout');
const judged = ['secrets', 'suppressions'];
const mutations = 40;

/** What one checkout says of a diff, a line each. */
type Ask = (diff: Uint8Array) => Promise<readonly string[]>;

const asks = [await openCheckout(here), await openCheckout(resolve(other))] as const;
const totals = { bytes: 0, lines: 0, lost: 0, gained: 0 };
const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
try {
  const path = join(directory, 'whole.diff');
  await writeSampleDiff(textFiles(join(here, 'node_modules')), Number(megabytes) * 1e6, [path]);
  for await (const { diff, release } of cutDiff(readBlocks(path), { onUnscanned: () => {} })) {
    await compare(diff);
    release?.();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`sources: ${say()}\n`);
for (const diff of mutilated()) await compare(diff);
process.stdout.write(`with mutilated samples: ${say()}\n`);
process.exitCode = totals.lost > 0 ? 1 : 0;

async function openCheckout(root: string): Promise<Ask> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href);
  const { readPiece: read } = (await load('gates/scan/read-piece.ts')) as { readPiece: typeof readPiece };
  const judges = await Promise.all(
    judged.map(async (id) => ((await load(`gates/rules/${id}.ts`)) as { judge: RuleFunction }).judge),
  );
  const spec = scanSpec();
  const scope = { write: [], forbidden: [], wholeRepository: true };
  return async (bytes) => {
    const diff = new Uint8Array(new SharedArrayBuffer(bytes.length));
    diff.set(bytes);
    const { files, addedLines, unread } = read(diff, undefined, false);
    const trees = { digest: '', baseCommit: undefined, baseTree: '', candidateTree: '' };
    const patch = { ...trees, format: 'GitDiff' as const, files, diff };
    const input = { spec, patch, scope, artifacts: [], args: [], files: {}, options: {} };
    const said = [`${files.length} files, ${addedLines} lines, ${JSON.stringify(unread)}`];
    for (const judge of judges) {
      const findings = await judge(input);
      said.push(...findings.map((finding: Finding) => JSON.stringify(finding)));
    }
    return said;
  };
}

/** What a sample says as a diff of a new file, whole and with bytes left out, doubled and exchanged. */
function* mutilated(): Generator<Uint8Array> {
  const random = randomNumbers(5);
  const samples = [...positives(), ...negatives()].map(({ path, text }) => ({ path, text }));
  const parts = ['"', "'", ' + ', '" +\n"', '\n', '=', ': ', '\\u00', '%', '.', '-', 'key', 'token', '\xff'];
  for (let round = 0; round < mutations; round += 1) {
    const sections = samples.map(({ path, text }, index) => {
      let changed = text;
      for (let left = round === 0 ? 0 : 1 + random(3); left > 0; left -= 1) {
        const at = random(changed.length + 1);
        const put = random(2) === 0 ? '' : (parts[random(parts.length)] ?? '');
        changed = changed.slice(0, at) + put + changed.slice(at + random(3));
      }
      const lines = changed.replace(/\n$/, '').split('\n');
      const name = `round-${round}/${index}/${path}`;
      const header = `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/${name}\n`;
      return `${header}@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
    });
    yield Buffer.from(sections.join(''), 'latin1');
  }
}

async function compare(diff: Uint8Array): Promise<void> {
  const [now, before] = [await asks[0](diff), await asks[1](diff)];
  const [inNow, inBefore] = [new Set(now), new Set(before)];
  const lost = before.filter((line) => !inNow.has(line));
  const gained = now.filter((line) => !inBefore.has(line));
  totals.bytes += diff.length;
  totals.lines += before.length;
  totals.lost += lost.length;
  totals.gained += gained.length;
  for (const line of lost) process.stdout.write(`lost    ${line.slice(0, 300)}\n`);
  for (const line of gained) process.stdout.write(`gained  ${line.slice(0, 300)}\n`);
}

function say(): string {
  const { bytes, lines, lost, gained } = totals;
  return `${(bytes / 1e6).toFixed(1)} MB, ${lines} answers, ${lost} lost, ${gained} gained`;
}
