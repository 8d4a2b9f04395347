import type { DraftOrder } from '../../core/contract/draft-order.ts';
import type { ToolDeclaration } from '../../core/contract/model.ts';

/** Of one submitted draft: a contract's words fill a few pages. */
const maxDraftCharacters = 256 * 1024;
/** Faults that a model is told at once. */
const maxFaults = 20;
const maxFaultCharacters = 500;

/** What came of a submission, for the model; `taken` ends the conversation, `hopeless` too. */
export interface Submitted {
  readonly text: string;
  readonly state: 'taken' | 'refused' | 'hopeless';
}

const names = { intent: 'submit_intent_draft', plan: 'submit_plan_draft' } as const;

/** The tool that ends a drafting. */
export function submitTool({ what, form }: Pick<DraftOrder, 'what' | 'form'>): ToolDeclaration {
  const description =
    what === 'intent'
      ? 'Submits the draft of the contract. It is judged at once; what is wrong with it is told, and it is submitted again.'
      : 'Submits how the tasks are to be done. It is judged at once; what is wrong with it is told, and it is submitted again.';
  return { name: names[what], description, parameters: form };
}

/** Has a submission judged; one that is no draft at all is never parsed. */
export async function submitDraft(text: string, { submit }: Pick<DraftOrder, 'submit'>): Promise<Submitted> {
  if (text.length > maxDraftCharacters)
    return { text: `a draft of ${text.length} characters is none`, state: 'hopeless' };
  let draft: unknown;
  try {
    draft = JSON.parse(text);
  } catch {
    return { text: 'the draft is not JSON', state: 'refused' };
  }
  const faults = await submit(draft);
  if (faults.length === 0) return { text: 'taken', state: 'taken' };
  const told = faults.slice(0, maxFaults).map((fault) => `- ${fault.slice(0, maxFaultCharacters)}`);
  const more = faults.length > maxFaults ? [`- and ${faults.length - maxFaults} more`] : [];
  return { text: ['not taken:', ...told, ...more].join('\n'), state: 'refused' };
}
