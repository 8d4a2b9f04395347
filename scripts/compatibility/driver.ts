/*
 * A process that runs portions of corpora with one version: `driver.ts PACKAGE WORK CONTEXT`. Each message names a
 * portion; the answer holds its cases, normalised. The two versions never share a process.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { corpora } from './corpora.ts';
import type { CorpusContext, Portion } from './corpus.ts';
import { normalise } from './differences.ts';
import type { Json } from './json.ts';
import { openVersion } from './version.ts';

/** What the process is sent: the portion of a corpus by its number. */
export interface Order {
  readonly corpus: string;
  readonly portion: number;
}

/** What it answers: its cases, or why there are none. */
export interface Report {
  readonly cases: readonly (readonly [name: string, answer: Json])[];
  readonly fault?: string;
}

const [packageDirectory = '', work = '', contextFile = ''] = process.argv.slice(2);
const context = JSON.parse(readFileSync(contextFile, 'utf8')) as CorpusContext;
const portions = new Map<string, readonly Portion[]>();

process.on('message', async (order: Order) => {
  process.send?.(await carryOut(order));
});

async function carryOut({ corpus, portion }: Order): Promise<Report> {
  const box = mkdtempSync(join(work, `${corpus}-`));
  const version = openVersion(packageDirectory, box);
  try {
    const own = portions.get(corpus) ?? corpora.find(({ name }) => name === corpus)?.portions(context) ?? [];
    portions.set(corpus, own);
    const answers = await own[portion]?.(version);
    if (answers === undefined) throw new Error(`${corpus} has no portion ${portion}`);
    return { cases: [...answers].map(([name, answer]) => [name, normalise(answer, version.replacements)]) };
  } catch (thrown) {
    return { cases: [], fault: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}
