import { type Fields, parseList, parseText, parseWord, toFields } from '../../../core/base/parse-fields.ts';
import { stageNames } from '../../../core/contract/stage.ts';
import type { ArtifactCase } from '../../../plugins/testers/artifact-case.ts';
import { optionsOf, requireFiles, requireSpec } from './case-members.ts';
import { parseCaseList } from './parse-case-list.ts';
import { within } from './within.ts';

/** The cases of one artifact in `cases.json`. Throws for the first fault, with its case and member. */
export function parseArtifactCases(given: unknown): readonly ArtifactCase[] {
  return parseCaseList(given, ['files', 'spec', 'stages', 'options', 'expect'], parseCase);
}

function parseCase(fields: Fields): ArtifactCase {
  requireFiles(fields);
  requireSpec(fields);
  optionsOf(fields);
  if (fields.stages !== undefined)
    within('stages', () =>
      parseList(fields.stages, (one) => {
        const stage = toFields(one, 'a stage');
        parseWord(stage, 'stage', stageNames);
        for (const list of ['checks', 'findings', 'artifacts'])
          within(list, () => parseList(stage[list], (item) => toFields(item, 'an object')));
      }),
    );
  within('expect', () => {
    const expect = toFields(fields.expect, 'an object', ['includes', 'json', 'unmade']);
    if (expect.includes !== undefined)
      within('includes', () => parseList(expect.includes, (text) => parseText({ text }, 'text', 4096)));
    if (expect.unmade !== undefined) parseText(expect, 'unmade', 1000);
    if (Object.keys(expect).length === 0)
      throw new TypeError('expected `includes`, `json` or `unmade`, got none');
  });
  return fields as unknown as ArtifactCase;
}
