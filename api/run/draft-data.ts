import type { AdmittedContract } from '../../engine/intent/admit-contract.ts';
import { readAsked } from '../../engine/run/draft/asked.ts';
import type { KeptDraft } from '../../engine/run/draft/kept-draft.ts';
import type { DraftData } from '../schemas/draft-schema.ts';

/** A drafted contract as `--json` shows it. */
export function draftData(
  { document, digest }: Pick<AdmittedContract, 'document' | 'digest'>,
  { path, repairs, questions }: Pick<KeptDraft, 'repairs' | 'questions'> & { readonly path: string },
): DraftData {
  const { said = [], provider = '', model = '' } = readAsked(document) ?? {};
  return {
    path,
    spec_id: document.metadata.id,
    digest,
    risk_level: document.risk.level,
    request: said,
    provider,
    model,
    repairs,
    questions,
  };
}
