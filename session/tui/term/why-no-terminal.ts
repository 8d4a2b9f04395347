import type { Ground } from './ground.ts';

/**
 * Why the screen of a session cannot be drawn here, as one line; nothing where it can. Lines that are appended
 * (`isPlain`) need no terminal that knows more than that.
 */
export function whyNoTerminal(
  { env, isTerminal }: Pick<Ground, 'env' | 'isTerminal'>,
  isPlain = false,
): string | undefined {
  if (!isTerminal.input) return 'standard input is no terminal';
  if (!isTerminal.output) return 'standard output is no terminal';
  if (isPlain) return undefined;
  const term = env.TERM ?? '';
  if (term === 'dumb') return 'the terminal cannot move its cursor (TERM is `dumb`): `--plain` appends lines';
  return term === '' && env.WT_SESSION === undefined
    ? 'the terminal does not say what it is (TERM is empty): `--plain` appends lines'
    : undefined;
}
