/* `npm run bench:scan`: precision and recall on the labelled sets (of direct execution by language, of static analysis by row), and what reading with grammars costs. Exit 1 where a limit is missed. */
import { executing, mayHit } from '../gates/direct-eval/candidates.ts';
import { findHits } from '../gates/direct-eval/scan-change.ts';
import { grammarOf, type Language } from '../readers/source/language.ts';
import { labelledLanguages, readSample, scoreLanguage } from './labelled-cases.ts';
import { labelledRows, scoreRow } from './labelled-sast.ts';
import { figure } from './measure.ts';
import type { Score } from './score-cases.ts';
import { sized } from './sized.ts';

const least = 0.95;
const maxMilliseconds = 10;
const lines = 500;
const rounds = sized(30, 1);

const held: boolean[] = [];
for (const language of labelledLanguages) held.push(await benchLabels(language));
for (const row of labelledRows) held.push(await benchRow(row));
for (const language of labelledLanguages) held.push(await benchFile(language as Language));
held.push(benchCandidates());
process.exit(held.every(Boolean) ? 0 : 1);

async function benchLabels(language: string): Promise<boolean> {
  return printScore(language, await scoreLanguage(language));
}

/** One row of our own static analysis. */
async function benchRow(row: string): Promise<boolean> {
  return printScore(row, await scoreRow(row));
}

function printScore(name: string, { cases, traps, precision, recall, wrong, missed }: Score): boolean {
  const holds = precision >= least && recall >= least;
  process.stdout.write(
    `${holds ? 'ok  ' : 'MISS'}  ${name.padEnd(11)} ${cases} cases, ${traps} traps  precision ${precision.toFixed(3)}  recall ${recall.toFixed(3)} (least ${least})\n`,
  );
  for (const one of wrong) process.stdout.write(`        found without label: ${one}\n`);
  for (const one of missed) process.stdout.write(`        not found: ${one}\n`);
  return holds;
}

/**
 * One candidate file of about 500 lines, made of the sample. Processor time, and the best of many rounds: on a
 * machine that is shared all else tells of the others.
 */
async function benchFile(language: Language): Promise<boolean> {
  const { path, text } = readSample(language);
  // A sample that is cut short would be a file with a fault, of which lines are read twice.
  const repeated = text.repeat(Math.ceil(lines / text.trimEnd().split('\n').length));
  const source = {
    path,
    language,
    text: language === 'php' ? `<?php\n${repeated}` : repeated,
    whole: true,
    isAdded: () => true,
    positionOf: () => ({ line: 1, column: 1 }),
  };
  const grammar = grammarOf(path, language);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = processorTime();
    await findHits(source, language, { searches: executing, isMine: () => true });
    times.push(processorTime() - before);
  }
  const detail = grammar ? `grammar ${grammar}` : 'token by token';
  return figure(
    `${language}: a candidate file of ${lines} lines`,
    Math.min(...times),
    maxMilliseconds,
    'ms',
    detail,
  );
}

/** Choosing candidates: text in which nothing is found, so that all of it is read. */
function benchCandidates(): boolean {
  const line =
    'const total = rows.map((row) => row.amount * rate).reduce((a, b) => a + b, 0); // sum of all\n';
  const bytes = Buffer.from(line.repeat(300_000));
  const before = processorTime();
  const search = executing.get('javascript');
  if (!search || mayHit(search, bytes)) throw new Error('the text was to hold no candidate');
  const rate = (processorTime() - before) / (bytes.length / 1e6);
  return figure(
    'choosing candidates',
    rate,
    6,
    'ms per MB',
    `${(1000 / rate).toFixed(0)} MB/s in one thread`,
  );
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
