/*
 * The labelled sets of the rules that read a change: each case alone, given to the rule as its worker thread would be.
 * `toRuleInput` is the public door for that; where a change of one line is enough, the hunks are given alone, too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { labelledLanguages, readCases } from '../../../bench/labelled-cases.ts';
import { labelledRows, readSastCases } from '../../../bench/labelled-sast.ts';
import { parseCases } from '../../../bench/parse-cases.ts';
import { renames, sidesOf } from '../../../test/gates/rules/renames.ts';
import { negatives, positives } from '../../../test/gates/secrets/labelled-set.ts';
import { parseChanges } from '../../../test/gates/tests-kept/parse-changes.ts';
import { parseEdits } from '../../../test/gates/tests-kept/parse-edits.ts';
import type { CaseFile, GateCase } from '../../../testing.ts';
import { type Corpus, inPortions, withUniqueNames } from '../corpus.ts';
import { type Json, toJson } from '../json.ts';

/** A case of a rule; `alone` asks about the hunks without the files that they are of. */
interface RuleCase extends GateCase {
  readonly alone?: true;
}

const fixtures = new URL('../../../fixtures/scan/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8');

const fix = { 'src/a.ts': { base: 'a\n', candidate: 'b\n' } };
const bugfix = { intent: { changeType: 'bugfix' } } as const;
const refactor = { intent: { changeType: 'refactor', objectives: ['The code is simpler'] } } as const;

/** The labelled sets by rule. */
export const gateCorpora: readonly Corpus[] = [
  corpusOf('no-direct-eval', () => [
    ...renames.map((one) => ({ name: `rename: ${one[1]}`, files: { [one[0]]: sidesOf(one) } })),
    ...labelledLanguages.flatMap((language) =>
      readCases(language).flatMap(({ name, path, code }) => both(`${language}: ${name}`, path, code)),
    ),
  ]),
  corpusOf('sast', () =>
    labelledRows.flatMap((row) =>
      readSastCases(row).flatMap(({ name, path, code }) => both(`${row}: ${name}`, path, code)),
    ),
  ),
  corpusOf('secrets', () => [
    ...positives().map(({ about, path, text }) => added(`secret, ${about}`, path, text)),
    ...negatives().map(({ about, path, text }) => added(`no secret, ${about}`, path, text)),
  ]),
  corpusOf('new-tests', () =>
    parseCases(read('new-tests.cases'), 'javascript').map(({ name, path, code }) => ({
      name: `${path}: ${name}`,
      spec: bugfix,
      files: { ...fix, [path]: { candidate: code } },
    })),
  ),
  corpusOf('tests-kept', () => [
    ...['tests-kept.cases', 'tests-kept-words.cases']
      .flatMap((file) => parseChanges(read(file)))
      .map(({ name, path, base, candidate }) => ({
        name: `${path}: ${name}`,
        spec: refactor,
        files: { [path]: sides(base, candidate) },
      })),
    ...readdirSync(new URL('tests-kept/', fixtures)).flatMap((file) =>
      parseEdits(read(`tests-kept/${file}`)).map(({ name, files }) => ({
        name: `${file}: ${name}`,
        spec: refactor,
        files,
      })),
    ),
  ]),
];

function corpusOf(rule: string, cases: () => readonly RuleCase[]): Corpus {
  return {
    name: rule,
    portions: () =>
      inPortions(withUniqueNames(cases()), 150).map((portion) => async (version) => {
        const { toRuleInput } = await version.testing();
        const judge = await version.rule(rule);
        const answers = new Map<string, Json>();
        for (const { alone, ...one } of portion) {
          const input = toRuleInput(one);
          answers.set(
            one.name,
            await answerOf(() => judge(alone === true ? { ...input, files: {} } : input)),
          );
        }
        return answers;
      }),
  };
}

/** What is found, or what is thrown. */
async function answerOf(ask: () => unknown): Promise<Json> {
  try {
    return toJson({ findings: await ask() });
  } catch (thrown) {
    return { thrown: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) };
  }
}

function added(name: string, path: string, text: string): RuleCase {
  return { name: `${name}, ${path}`, files: { [path]: { candidate: text } } };
}

function both(name: string, path: string, code: string): readonly RuleCase[] {
  return [
    { name, files: { [path]: { candidate: code } } },
    { name: `${name}, hunks alone`, files: { [path]: { base: '\n', candidate: code } }, alone: true },
  ];
}

function sides(base: string, candidate: string): CaseFile {
  return { ...(base === '' ? {} : { base }), ...(candidate === '' ? {} : { candidate }) };
}
