import { type Asked, type GivenAnswer, wordOf } from './asked.ts';
import { choicesOf } from './choices.ts';

/** With what a plan was executed: the question stands above as it was before the network was switched. */
function executedWith({ metadata }: Asked, notes: NonNullable<GivenAnswer['answers']>): readonly string[] {
  const count = Object.keys(notes).length;
  const network = wordOf(metadata.networkAccess);
  return [
    ...(network === '' ? [] : [`network ${network}`]),
    ...(count === 0 ? [] : [`${count} ${count === 1 ? 'note' : 'notes'}`]),
  ];
}

/** An answer as whoever gave it reads it again; what was written for it is in the transcript. */
export function answeredWords(asked: Asked, { selectedOption, answers = {} }: GivenAnswer): string {
  const chosen = choicesOf(asked).find(({ id }) => id === selectedOption);
  const words = `you chose: ${chosen?.label ?? selectedOption ?? 'an answer'}`;
  return selectedOption === 'execute' ? [words, ...executedWith(asked, answers)].join(' · ') : words;
}
