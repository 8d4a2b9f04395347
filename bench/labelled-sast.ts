/* The labelled set of our own static analysis: `fixtures/scan/sast/<row>.cases`, one file for each row. */
import { readdirSync, readFileSync } from 'node:fs';
import { judge } from '../gates/rules/sast.ts';
import { type LabelledCase, parseCases } from './parse-cases.ts';
import { type Score, scoreCases } from './score-cases.ts';

const root = new URL('../fixtures/scan/sast/', import.meta.url);

/** Ids of rows that have a labelled set. */
export const labelledRows: readonly string[] = readdirSync(root).map(
  (name) => `sast/${name.replace(/\.cases$/, '')}`,
);

/** The cases of a row. */
export function readSastCases(row: string): readonly LabelledCase[] {
  const name = row.slice('sast/'.length);
  return parseCases(readFileSync(new URL(`${name}.cases`, root), 'utf8'), name.slice(0, name.indexOf('-')));
}

/** Asks the rule about every case of a row. A finding of another row counts as wrong. */
export async function scoreRow(row: string): Promise<Score> {
  return scoreCases(judge, readSastCases(row), row, ({ detail }) => String(detail?.row));
}
