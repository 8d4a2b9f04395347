import {
  type Fields,
  nameOf,
  parseCount,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/parse-fields.ts';
import { stageNames } from '../../../core/contract/stage.ts';
import type { ArtifactFacts, CheckFacts } from '../../../core/contract/stage-check.ts';
import type { StageCheckCase } from '../../../plugins/testers/stage-check-case.ts';
import {
  optionsOf,
  requireAnswer,
  requireFiles,
  requireFindings,
  requireSpec,
  requireWire,
} from './case-members.ts';
import { parseCaseList } from './parse-case-list.ts';
import { within } from './within.ts';

/** What `cases.json` says of a stage check: its cases, and the options that lead the plugin to its declared host. */
export interface StageCheckCases {
  readonly options: Fields;
  readonly cases: readonly StageCheckCase[];
}

type Kind = 'text' | 'number' | 'truth';

const ofCheck: Readonly<Record<Exclude<keyof CheckFacts, 'tests'>, Kind>> = {
  id: 'text',
  kind: 'text',
  stage: 'text',
  status: 'text',
  required: 'truth',
  fromPolicy: 'truth',
  tolerated: 'truth',
  command: 'text',
  expectedExitCode: 'number',
  exitCode: 'number',
  timedOut: 'truth',
};
const ofArtifact: Readonly<Record<keyof ArtifactFacts, Kind>> = {
  name: 'text',
  stage: 'text',
  checkId: 'text',
  sha256: 'text',
  sizeBytes: 'number',
  contentType: 'text',
};
const caseFields = ['stage', 'spec', 'files', 'checks', 'findings', 'artifacts', 'answer', 'wire', 'expect'];

/** Reads them; throws for the first fault, with its case and member. */
export function parseStageCheckCases(name: string, given: unknown): StageCheckCases {
  const fields = toFields(given ?? {}, `an object \`${name}\``, ['options', 'cases']);
  return { options: optionsOf(fields), cases: parseCaseList(fields.cases, caseFields, parseCase) };
}

function parseCase(fields: Fields): StageCheckCase {
  if (fields.stage !== undefined) parseWord(fields, 'stage', stageNames);
  requireSpec(fields);
  requireFiles(fields);
  requireFacts(fields, 'checks', { ...ofCheck, tests: 'counts' });
  if (fields.findings !== undefined) requireFindings(fields, 'findings', ['rule', 'stage', 'check']);
  requireFacts(fields, 'artifacts', ofArtifact);
  if (fields.answer !== undefined)
    within('answer', () => {
      requireAnswer(toFields(fields.answer, 'an object', ['status', 'headers', 'json', 'text']));
    });
  requireWire(fields);
  requireFindings(fields, 'expect', ['detail']);
  return fields as unknown as StageCheckCase;
}

/** Each of a list holds no members but these, each of its kind. */
function requireFacts(
  fields: Fields,
  member: string,
  kinds: Readonly<Record<string, Kind | 'counts'>>,
): void {
  if (fields[member] === undefined) return;
  within(member, () =>
    parseList(fields[member], (one) => {
      const facts = toFields(one, 'an object', Object.keys(kinds));
      for (const [field, kind] of Object.entries(kinds))
        if (facts[field] !== undefined) requireKind(facts, field, kind);
    }),
  );
}

function requireKind(facts: Fields, field: string, kind: Kind | 'counts'): void {
  const value = facts[field];
  if (kind === 'text') parseText(facts, field, 4096);
  else if (kind === 'counts') {
    const names = ['passed', 'failed', 'skipped'];
    const counts = toFields(value, `an object \`${field}\``, names);
    for (const name of names) within(field, () => parseCount(counts, name, 0));
  } else if (typeof value !== (kind === 'truth' ? 'boolean' : 'number'))
    throw new TypeError(
      `expected \`${field}\` to be ${kind === 'truth' ? 'true or false' : 'a number'}, got ${nameOf(value)}`,
    );
}
