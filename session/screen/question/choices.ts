import { type Asked, type InnerQuestion, wordsOf } from './asked.ts';
import { letterOf } from './option-letters.ts';

/** One answer that can be chosen. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** The key that chooses it, beside its number. */
  readonly letter: string | undefined;
  /** What it would cover or do; empty where the label says it all. */
  readonly about: string;
}

/** The answers to a question; those of the inner one where it has some. */
export function choicesOf(asked: Asked, inner?: InnerQuestion): readonly Choice[] {
  if (inner !== undefined) return inner.options.map((option) => ({ ...option, letter: undefined }));
  return asked.options.map(({ id, label, description = '' }) => ({
    id,
    label: labelOf(asked, id, label),
    letter: letterOf(id),
    about: description,
  }));
}

/** The place of the answer that Enter gives where nobody chose: never to do what is dangerous, or proven to nobody. */
export function firstChoiceOf({ options, metadata }: Pick<Asked, 'options' | 'metadata'>): number {
  const isDoubtful = metadata.verdict === 'dangerous' || wordsOf(metadata.unproven).length > 0;
  const deny = options.findIndex(({ id }) => id === 'deny');
  return isDoubtful && deny > 0 ? deny : 0;
}

/** What is not what it seems says so: a toggle tells where it would go, a second word is asked for. */
function labelOf({ metadata }: Asked, id: string, label: string): string {
  if (id === 'network')
    return `Network: ${metadata.networkAccess === 'allow' ? 'allow → deny' : 'deny → allow'}`;
  if (metadata.needsConfirmation === id) return `${label}: sure? Choose it again`;
  return label;
}
