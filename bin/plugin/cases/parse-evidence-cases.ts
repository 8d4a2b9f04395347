import {
  type Fields,
  nameOf,
  parseCount,
  parseText,
  parseWord,
  toFields,
} from '../../../core/base/parse-fields.ts';
import type { TrustTier } from '../../../core/contract/context.ts';
import type { EvidenceCase } from '../../../plugins/testers/evidence-tester.ts';
import { optionsOf } from './case-members.ts';
import { parseCaseList } from './parse-case-list.ts';
import { within } from './within.ts';

const tiers: readonly TrustTier[] = ['repo', 'standards', 'vendor-doc', 'web', 'user-provided'];

/** The cases of one evidence policy in `cases.json`. Throws for the first fault, with its case and member. */
export function parseEvidenceCases(given: unknown): readonly EvidenceCase[] {
  return parseCaseList(given, ['source', 'soFar', 'options', 'expect'], parseCase);
}

function parseCase(fields: Fields): EvidenceCase {
  if (fields.source !== undefined && fields.soFar !== undefined)
    throw new TypeError('expected one of `source` and `soFar`, got both');
  within('source', () => {
    const source = toFields(fields.source ?? {}, 'an object', ['name', 'url', 'trustTier', 'isAllowedHost']);
    for (const field of ['name', 'url']) if (source[field] !== undefined) parseText(source, field, 4096);
    if (source.trustTier !== undefined) parseWord(source, 'trustTier', tiers);
    const { isAllowedHost = false } = source;
    if (typeof isAllowedHost !== 'boolean')
      throw new TypeError(`expected \`isAllowedHost\` to be true or false, got ${nameOf(isAllowedHost)}`);
  });
  if (fields.soFar !== undefined)
    within('soFar', () =>
      parseCount(toFields(fields.soFar, 'an object', ['repositoryUses']), 'repositoryUses', 0),
    );
  optionsOf(fields);
  within('expect', () => {
    const expect = toFields(fields.expect, 'an object', ['refuse', 'order']);
    if (expect.refuse !== undefined) parseText(expect, 'refuse', 1000);
    if (expect.order !== undefined) parseCount(expect, 'order', 0);
  });
  return fields as unknown as EvidenceCase;
}
