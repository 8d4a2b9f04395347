import { type Asked, type GivenAnswer, innerQuestions, wordOf } from './asked.ts';
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

/** Characters of one answer that was typed. */
const most = 200;

/** An answer as whoever gave it reads it again: what was chosen, or what was written; of a secret, that it was. */
export function answeredWords(asked: Asked, { selectedOption, answers = {} }: GivenAnswer): string {
  const inner = innerQuestions(asked);
  if (inner.length === 0) {
    const chosen = choicesOf(asked).find(({ id }) => id === selectedOption);
    const words = `you chose: ${chosen?.label ?? selectedOption ?? 'an answer'}`;
    return selectedOption === 'execute' ? [words, ...executedWith(asked, answers)].join(' · ') : words;
  }
  const told = inner.map(({ id, options, secret }) => {
    const [given = ''] = answers[id] ?? [];
    if (secret) return 'a secret';
    const label = options.find((option) => option.id === given)?.label;
    return label ?? `“${given.length > most ? `${given.slice(0, most).toWellFormed()}…` : given}”`;
  });
  const isChosen = inner.every(({ options, secret }) => !secret && options.length > 0);
  return `${isChosen ? 'you chose' : 'you answered'}: ${told.join(' · ')}`;
}
