/* The labelled set of `no-direct-eval`: `fixtures/scan/<language>/direct-eval.cases`. */
import { readdirSync, readFileSync } from 'node:fs';
import { judge } from '../gates/rules/no-direct-eval.ts';
import { fileEndings, type LabelledCase, parseCases } from './parse-cases.ts';
import { type Score, scoreCases } from './score-cases.ts';

const root = new URL('../fixtures/scan/', import.meta.url);
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
  return scoreCases(judge, readCases(language));
}
