/*
 * The same labelled sets through `writ scan`: each case is a directory of one change, so that one process judges
 * hundreds of them. Answers are the findings by case, and the rest of the answer as a case of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { labelledLanguages, readCases } from '../../../bench/labelled-cases.ts';
import { labelledRows, readSastCases } from '../../../bench/labelled-sast.ts';
import { negatives, positives } from '../../../test/gates/secrets/labelled-set.ts';
import { parseChanges } from '../../../test/gates/tests-kept/parse-changes.ts';
import type { Answers, Corpus, Portion } from '../corpus.ts';
import { isRecord, type Json } from '../json.ts';
import { diffOf, type Files, makeRepository, type TreeFile } from '../repository.ts';
import { type Version, writJson } from '../version.ts';

/** A file of a case; an absent side is no file. */
interface ScanCase {
  readonly name: string;
  readonly path: string;
  readonly base?: string;
  readonly candidate?: string;
}

export const scanCorpus: Corpus = {
  name: 'scan',
  portions: () => [
    ...labelledLanguages.map((language) =>
      byPatch(language, 'no-direct-eval,suppressions,sast', () =>
        readCases(language).map(({ name, path, code }) => ({ name, path, candidate: code })),
      ),
    ),
    byPatch('sast', 'sast', () =>
      labelledRows.flatMap((row) =>
        readSastCases(row).map(({ name, path, code }) => ({
          name: `${row}: ${name}`,
          path,
          candidate: code,
        })),
      ),
    ),
    byPatch('secrets', 'secrets', () =>
      [...positives(), ...negatives()].map(({ about, path, text }) => ({
        name: about,
        path,
        candidate: text,
      })),
    ),
    byRange('tests-kept', 'tests-kept,new-tests,judge-changed,no-direct-eval', () =>
      ['tests-kept.cases', 'tests-kept-words.cases'].flatMap((file) =>
        parseChanges(readFileSync(new URL(`../../../fixtures/scan/${file}`, import.meta.url), 'utf8')).map(
          ({ name, path, base, candidate }) => ({ name, path, base, candidate }),
        ),
      ),
    ),
  ],
};

/** The hunks alone, as from `git diff | writ scan --patch -`. */
function byPatch(name: string, rules: string, cases: () => readonly ScanCase[]): Portion {
  return async (version) => {
    const root = await repositoryOf(version, `patch-${name}`, cases());
    const patch = join(version.work, `${name}.patch`);
    writeFileSync(patch, await diffOf(version, root));
    return byCase(name, cases(), await writJson(version, ['scan', '--patch', patch, '--rules', rules], root));
  };
}

/** Both sides of each file. */
function byRange(name: string, rules: string, cases: () => readonly ScanCase[]): Portion {
  return async (version) => {
    const root = await repositoryOf(version, `range-${name}`, cases());
    const args = ['scan', '--range', 'main..candidate', '--rules', rules];
    return byCase(name, cases(), await writJson(version, args, root));
  };
}

const directory = (index: number): string => `case-${String(index).padStart(4, '0')}`;

function repositoryOf(version: Version, name: string, cases: readonly ScanCase[]): Promise<string> {
  const side = (which: 'base' | 'candidate'): Files =>
    new Map<string, TreeFile>([
      ['README.md', { bytes: Buffer.from('Cases.\n') }],
      ...cases.flatMap((one, index): readonly (readonly [string, TreeFile])[] => {
        const text = one[which];
        return text === undefined || text === ''
          ? []
          : [[`${directory(index)}/${one.path}`, { bytes: Buffer.from(text) }]];
      }),
    ]);
  return makeRepository(version, name, { main: side('base'), candidate: side('candidate') });
}

/** Findings by the case in whose directory they are. */
function byCase(name: string, cases: readonly ScanCase[], envelope: Json): Answers {
  const { answer, ...ended } = envelope as { readonly [key: string]: Json };
  const data = isRecord(answer) && isRecord(answer.data) ? answer.data : undefined;
  const findings = Array.isArray(data?.findings) ? (data.findings as readonly Json[]) : [];
  const place = (finding: Json): string =>
    isRecord(finding) && typeof finding.path === 'string' ? (finding.path.split('/', 1)[0] ?? '') : '';
  const placed = Map.groupBy(findings, place);
  const known = new Set(cases.map((_, index) => directory(index)));
  const elsewhere = findings.filter((finding) => !known.has(place(finding)));
  const rest = {
    ...ended,
    answer: isRecord(answer) ? { ...answer, data: { ...data, findings: elsewhere } } : answer,
  };
  return new Map<string, Json>([
    [`${name}: the whole`, rest as Json],
    ...cases.map((one, index): [string, Json] => [
      `${name}: ${directory(index)}, ${one.name}`,
      placed.get(directory(index)) ?? [],
    ]),
  ]);
}
