/*
 * `npm run size` prints how large each module of the product is, and how many retired words are left. Product code is
 * what git tracks as *.ts, *.js and *.scm outside of test, fixtures, bench, scripts and docs, without generated files.
 * `--json` prints one document with every figure, retired words one by one. Retired words are listed in
 * `retired-words.json`; the ceilings are those that the product is to reach.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseFlags } from './parse-flags.ts';
import { measureProduct, measureRest, type Size } from './size/measure-size.ts';

const { values: flags } = parseFlags({ json: { type: 'boolean' } }, { takesArguments: false });
const root = resolve(import.meta.dirname, '..');
const files = trackedFiles()
  .filter((path) => /\.(?:ts|js|scm|md)$/.test(path) && existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const product = measureProduct(files);
const rest = measureRest(files);
const output = flags.json
  ? JSON.stringify({ product, rest }, null, 2)
  : [table('product', product), table('beside it', rest), wordList(product, rest), ceilings(product)].join(
      '\n\n',
    );
process.stdout.write(`${output}\n`);

function trackedFiles(): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  return stdout.split('\0').filter((path) => path !== '');
}

function table(title: string, rows: Readonly<Record<string, Size>>): string {
  const head = [
    title,
    'files',
    'lines',
    'code',
    'comments',
    'median',
    'p90',
    'one importer',
    'cycles',
    'retired',
  ];
  const cells = Object.entries(rows).map(([name, size]) => [
    name.includes('/') ? `  ${name}` : name,
    ...[
      size.files,
      size.lines,
      size.code,
      size.comments,
      size.median,
      size.p90,
      size.lonely,
      size.cycles,
    ].map(String),
    `${wordsIn(size)}`,
  ]);
  const widths = head.map((cell, column) =>
    Math.max(...[head, ...cells].map((row) => row[column]?.length ?? cell.length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return [head, ...cells].map(line).join('\n');
}

function wordsIn({ retired }: Size): number {
  return Object.values(retired).reduce((total, count) => total + count, 0);
}

/** The figures that have a ceiling, one line each. */
function ceilings({ total, gates, readers }: Readonly<Record<string, Size>>): string {
  if (total === undefined) return '';
  const rows: readonly (readonly [string, number, number])[] = [
    ['files', total.files, 1000],
    ['code lines', total.code, 105_000],
    ['lines of gates and readers', (gates?.lines ?? 0) + (readers?.lines ?? 0), 24_000],
    ['files with one importer in their own folder', total.lonely, 150],
    ['retired words', wordsIn(total), 150],
  ];
  const line = ([name, value, ceiling]: (typeof rows)[number]): string =>
    `${value <= ceiling ? 'ok     ' : 'above  '}${name}: ${value} of at most ${ceiling}`;
  return rows.map(line).join('\n');
}

/** Each retired word with its count in the product and in the pages. */
function wordList(
  { total }: Readonly<Record<string, Size>>,
  { docs }: Readonly<Record<string, Size>>,
): string {
  const words = new Set([...Object.keys(total?.retired ?? {}), ...Object.keys(docs?.retired ?? {})]);
  const counted = [...words].map(
    (word) => `${word} ${total?.retired[word] ?? 0}+${docs?.retired[word] ?? 0}`,
  );
  return `retired words (product + docs): ${counted.join(', ')}`;
}
