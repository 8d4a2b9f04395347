import type { AdmittedContract } from '../../engine/intent/admit-contract.ts';
import { readAsked } from '../../engine/run/draft/asked.ts';
import { type DraftEdit, editSentence } from '../../engine/run/draft/edited-draft.ts';
import type { KeptDraft } from '../../engine/run/draft/kept-draft.ts';
import { whyItWaits } from '../../engine/run/draft/why-it-waits.ts';
import type { DraftData, DraftedData } from '../schemas/draft-schema.ts';

/** A drafted contract as `--json` shows it. */
export function draftData(
  { document, digest }: Pick<AdmittedContract, 'document' | 'digest'>,
  {
    path,
    repairs,
    questions,
    lacks,
  }: Pick<KeptDraft, 'repairs' | 'questions'> & {
    readonly path: string;
    /** Absent where nobody looked. */
    readonly lacks?: readonly string[];
  },
  edits: readonly DraftEdit[] = [],
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
    edits: edits.map(editSentence),
    ...(lacks === undefined ? {} : { lacks }),
  };
}

/** A draft that waits, as `--json` shows it. */
export function draftedData(
  draft: DraftData,
  kept: Pick<KeptDraft, 'runId' | 'questions'>,
  edits: readonly DraftEdit[] = [],
): DraftedData {
  return {
    run_id: kept.runId,
    state: 'drafted',
    waits_for: whyItWaits(draft.risk_level, kept, edits),
    draft,
  };
}
