import { readdirSync, readFileSync } from 'node:fs';
import { labelledLanguages, readCases } from '../../../bench/labelled-cases.ts';
import { labelledRows, readSastCases } from '../../../bench/labelled-sast.ts';
import { parseCases } from '../../../bench/parse-cases.ts';
import type { RuleFunction } from '../../../core/contract/rule.ts';
import { followChecks } from '../../../engine/run/judge/second-run/find-judge.ts';
import type { judgingParts as JudgingParts } from '../../../gates/judge-changed/judging-parts.ts';
import { type CaseFile, type GateCase, toRuleInput } from '../../../testing.ts';
import { attestCases, outcomeOf } from '../../attest/word-cases.ts';
import { type Change, changes, usualScripts } from '../judge-changed/changes.ts';
import { renames, sidesOf } from '../rules/renames.ts';
import { parseChanges } from '../tests-kept/parse-changes.ts';
import { parseEdits } from '../tests-kept/parse-edits.ts';

/** A thing that a person may hand to a part of the product, and what they get to see of it. */
export interface WordCase {
  readonly name: string;
  /** Without a word in here, the word changes nothing. */
  readonly text: string;
  readonly ask: (module: Record<string, unknown>) => unknown;
}

export interface Corpus {
  /** What is asked, relative to the project. */
  readonly entry: string;
  /** Beginnings of the paths of the sources whose words it is asked about. */
  readonly about: readonly string[];
  readonly cases: readonly WordCase[];
}

const fixtures = new URL('../../../fixtures/scan/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8');

/** What a rule finds, but for what it says to people. */
async function found(module: Record<string, unknown>, input: Parameters<RuleFunction>[0]): Promise<unknown> {
  const findings = await (module.judge as RuleFunction)(input);
  return findings.map(({ severity, path, line, column, detail }) => [severity, path, line, column, detail]);
}

/** A case of a rule over files; `blind` too from the hunks alone. */
export function ruleCase(gateCase: GateCase): WordCase {
  const text = Object.entries(gateCase.files ?? {})
    .flatMap(([path, { base = '', candidate = '', oldPath = '' }]) => [
      path,
      oldPath,
      String(base),
      String(candidate),
    ])
    .join('\n');
  return { name: gateCase.name, text, ask: (module) => found(module, toRuleInput(gateCase)) };
}

function blindCase(name: string, path: string, code: string): WordCase {
  const input = { ...toRuleInput({ name, files: { [path]: { base: '\n', candidate: code } } }), files: {} };
  return { name: `${name}, hunks alone`, text: `${path}\n${code}`, ask: (module) => found(module, input) };
}

const fix = { 'src/a.ts': { base: 'a\n', candidate: 'b\n' } };
const bugfix = { intent: { changeType: 'bugfix' as const } };
const refactor = { intent: { changeType: 'refactor' as const, objectives: ['The code is simpler'] } };

/** A case of `new-tests`. */
export const newTests = (name: string, files: Readonly<Record<string, CaseFile>>): WordCase =>
  ruleCase({ name, spec: bugfix, files: { ...fix, ...files } });
/** A case of `tests-kept`. */
export const testsKept = (name: string, files: Readonly<Record<string, CaseFile>>): WordCase =>
  ruleCase({ name, spec: refactor, files });

const unattended = { risk: { humanInLoop: { required: false, minApprovers: 0 } } } as const;

/** A case of `judge-changed`. */
export function judgeChanged({ name, command, base, change, links = [] }: Change): WordCase {
  const files: Record<string, CaseFile> = {};
  for (const path of new Set([...Object.keys(base), ...Object.keys(change)])) {
    if (!(path in change)) continue;
    const [was, is] = [base[path], change[path] ?? undefined];
    files[path] = {
      ...(was === undefined ? {} : { base: was }),
      ...(is === undefined ? {} : { candidate: is }),
    };
  }
  const ask = async (module: Record<string, unknown>): Promise<unknown> => {
    const reach = await followChecks(
      [{ id: 'check-0', command }],
      Object.entries(base).map(([path, text]) => ({
        path,
        sizeBytes: text.length,
        mode: links.includes(path) ? '120000' : '100644',
      })),
      async (wanted) => new Map(wanted.map((path) => [path, Buffer.from(base[path] ?? '')])),
    );
    const input = toRuleInput({ name, files, spec: unattended });
    return found(module, { ...input, judge: reach, options: { review: 'required' } });
  };
  return {
    name,
    text: `${command}\n${JSON.stringify([base, change])}\n${Object.values(base).join('\n')}\n${Object.values(change).join('\n')}`,
    ask,
  };
}

const sides = (base: string, candidate: string): CaseFile => ({
  ...(base === '' ? {} : { base }),
  ...(candidate === '' ? {} : { candidate }),
});

/** Every set of cases of the gates. */
export function corpora(): readonly Corpus[] {
  return [
    {
      entry: 'gates/rules/no-direct-eval.ts',
      about: ['gates/direct-eval/'],
      cases: [
        ...renames.map((one) => ruleCase({ name: one[1], files: { [one[0]]: sidesOf(one) } })),
        ...labelledLanguages.flatMap((language) =>
          readCases(language).flatMap(({ name, path, code }) => [
            ruleCase({ name, files: { [path]: { candidate: code } } }),
            blindCase(name, path, code),
          ]),
        ),
      ],
    },
    {
      entry: 'gates/rules/sast.ts',
      about: ['gates/sast/'],
      cases: labelledRows.flatMap((row) =>
        readSastCases(row).flatMap(({ name, path, code }) => [
          ruleCase({ name, files: { [path]: { candidate: code } } }),
          blindCase(name, path, code),
        ]),
      ),
    },
    {
      entry: 'gates/rules/new-tests.ts',
      about: ['gates/new-tests/'],
      cases: parseCases(read('new-tests.cases'), 'javascript').map(({ name, path, code }) =>
        newTests(name, { [path]: { candidate: code } }),
      ),
    },
    {
      entry: 'gates/rules/tests-kept.ts',
      about: ['gates/tests-kept/', 'gates/new-tests/'],
      cases: [
        ...['tests-kept.cases', 'tests-kept-words.cases']
          .flatMap((file) => parseChanges(read(file)))
          .map(({ name, path, base, candidate }) => testsKept(name, { [path]: sides(base, candidate) })),
        ...readdirSync(new URL('tests-kept/', fixtures)).flatMap((name) =>
          parseEdits(read(`tests-kept/${name}`)).map((edit) => testsKept(edit.name, edit.files)),
        ),
      ],
    },
    {
      entry: 'gates/rules/judge-changed.ts',
      about: ['gates/judge-changed/', 'gates/rules/judge-changed.ts'],
      cases: changes.map(judgeChanged),
    },
    {
      entry: 'gates/judge-changed/judging-parts.ts',
      about: ['gates/judge-changed/judging-parts.ts'],
      cases: usualScripts.map((name) => ({
        name: `the script ${name}`,
        text: name,
        ask: ({ judgingParts }) => {
          const bytes = Buffer.from(JSON.stringify({ scripts: { [name]: 'x' } }));
          return [...((judgingParts as typeof JudgingParts)('package.json', bytes, undefined) ?? [])];
        },
      })),
    },
    ...[...Map.groupBy(attestCases, ({ entry }) => entry)].map(([entry, cases]) => ({
      entry,
      about: ['attest/'],
      cases: cases.map((one) => ({
        name: one.name,
        text: one.name,
        ask: (module: Record<string, unknown>) => outcomeOf(one, module),
      })),
    })),
  ];
}
