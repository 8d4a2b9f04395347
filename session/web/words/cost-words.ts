import { toCount } from '../../screen/words/to-count.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a step is thought to take, or took, in a few words; nothing where nobody says. */
export function estimateWords(step: object): string {
  const { estimate, actual } = step as Members;
  const told = [
    ['about ', estimate],
    ['took ', actual],
  ].flatMap(([begin, given]) => {
    const words = amountWords(given);
    return words === '' ? [] : [`${String(begin)}${words}`];
  });
  return told.length === 0 ? '' : ` · ${told.join(', ')}`;
}

function amountWords(given: unknown): string {
  if (typeof given !== 'object' || given === null) return '';
  const { tokens, costUsd } = given as Members;
  return [
    typeof tokens === 'number' ? `${toCount(tokens)} tokens` : '',
    typeof costUsd === 'number' ? costWords(costUsd) : '',
  ]
    .filter((one) => one !== '')
    .join(', ');
}

/** Dollars, to the tenth of a cent where it is little. */
export function costWords(usd: number): string {
  return `$${usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}
