/* The labelled set of `no-direct-eval`: `fixtures/scan/<language>/direct-eval.cases`. */
import { readdirSync, readFileSync } from 'node:fs';
import { judge } from '../gates/rules/no-direct-eval.ts';
import { toRuleInput } from '../testing.ts';
import { fileEndings, type LabelledCase, parseCases } from './parse-cases.ts';

const root = new URL('../fixtures/scan/', import.meta.url);
/** How a language's cases came out: lines found and labelled, found without label, labelled and not found. */
export interface Score {
  readonly cases: number;
  readonly traps: number;
  readonly right: number;
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
  readonly precision: number;
  readonly recall: number;
}

/** Languages that have a labelled set. */
export const labelledLanguages: readonly string[] = readdirSync(root).filter((name) => name in fileEndings);

/** The cases of a language. */
export function readCases(language: string): readonly LabelledCase[] {
  const text = readFileSync(new URL(`${language}/direct-eval.cases`, root), 'utf8');
  return parseCases(text, language);
}

/** Ordinary source of a language that is a candidate for reading and holds no direct execution. */
export function readSample(language: string): { readonly path: string; readonly text: string } {
  const path = `sample.${fileEndings[language]}`;
  return { path, text: readFileSync(new URL(`${language}/${path}`, root), 'utf8') };
}

/** Asks the rule about every case of a language. */
export async function scoreLanguage(language: string): Promise<Score> {
  const cases = readCases(language);
  const wrong: string[] = [];
  const missed: string[] = [];
  let right = 0;
  for (const { name, path, code, lines } of cases) {
    const findings = await judge(toRuleInput({ name, files: { [path]: { candidate: code } } }));
    const found = new Set(findings.map(({ line }) => line));
    for (const line of lines) {
      if (found.has(line)) right += 1;
      else missed.push(`${name}: line ${line}`);
    }
    for (const line of found)
      if (line === undefined || !lines.includes(line)) wrong.push(`${name}: line ${line}`);
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
