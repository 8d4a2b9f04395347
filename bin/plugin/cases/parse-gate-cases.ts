import { type Fields, parseList, parseText, parseWord, toFields } from '../../../core/base/parse-fields.ts';
import { stageNames } from '../../../core/contract/stage.ts';
import type { GateCase, GateCases } from '../../../plugins/testers/gate-tester.ts';
import { optionsOf, requireFiles, requireFindings, requireSpec } from './case-members.ts';
import { parseCaseList } from './parse-case-list.ts';
import { within } from './within.ts';

const caseFields = [
  'files',
  'spec',
  'args',
  'options',
  'artifacts',
  'stage',
  'approvals',
  'approvalGroups',
  'expect',
];

/** The cases of one rule in `cases.json`. Throws for the first fault, with its group, case and member. */
export function parseGateCases(given: unknown): GateCases {
  const fields = toFields(given, 'an object', ['valid', 'invalid']);
  const group = (name: 'valid' | 'invalid') =>
    within(name, () => parseCaseList(fields[name], caseFields, parseCase));
  return { valid: group('valid'), invalid: group('invalid') };
}

function parseCase(fields: Fields): GateCase {
  requireFiles(fields);
  requireSpec(fields);
  optionsOf(fields);
  if (fields.args !== undefined)
    within('args', () => parseList(fields.args, (args) => parseText({ args }, 'args', 4096, 0), 256));
  if (fields.stage !== undefined)
    within('stage', () => {
      const stage = toFields(fields.stage, 'an object', ['name', 'checks']);
      parseWord(stage, 'name', stageNames);
      within('checks', () => parseList(stage.checks, (one) => toFields(one, 'a check')));
    });
  for (const list of ['artifacts', 'approvals'])
    if (fields[list] !== undefined)
      within(list, () => parseList(fields[list], (one) => toFields(one, 'an object')));
  within('approvalGroups', () => {
    const groups = toFields(fields.approvalGroups ?? {}, 'an object');
    for (const [name, people] of Object.entries(groups))
      within(name, () => parseList(people, (one) => parseText({ one }, 'one', 4096)));
  });
  if (fields.expect !== undefined) requireFindings(fields, 'expect', ['rule', 'detail']);
  return fields as unknown as GateCase;
}
