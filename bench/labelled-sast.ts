/* The labelled set of our own static analysis: `fixtures/scan/sast/<row>.cases`, one file for each row. */
import { readdirSync, readFileSync } from 'node:fs';
import { judge } from '../gates/rules/sast.ts';
import { toRuleInput } from '../testing.ts';
import type { Score } from './labelled-cases.ts';
import { type LabelledCase, parseCases } from './parse-cases.ts';

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
  const cases = readSastCases(row);
  const wrong: string[] = [];
  const missed: string[] = [];
  let right = 0;
  for (const { name, path, code, lines } of cases) {
    const findings = await judge(toRuleInput({ name, files: { [path]: { candidate: code } } }));
    const found = new Set(findings.map(({ line, detail }) => `${detail?.row} ${line}`));
    for (const line of lines) {
      if (found.has(`${row} ${line}`)) right += 1;
      else missed.push(`${name}: line ${line}`);
    }
    for (const one of found)
      if (!lines.some((line) => one === `${row} ${line}`)) wrong.push(`${name}: ${one}`);
  }
  return {
    cases: cases.length,
    traps: cases.filter(({ lines }) => lines.length === 0).length,
    right,
    wrong,
    missed,
    precision: right / Math.max(1, right + wrong.length),
    recall: right / Math.max(1, right + missed.length),
  };
}
