import { WritError } from '../../../core/base/errors.ts';
import { budgetBounds } from '../../../engine/config/bounds.ts';
import type { SlashCommand } from './slash-command.ts';

export const budget: SlashCommand = {
  name: 'budget',
  form: '/budget USD|off',
  says: 'stops the session before it costs more than that over its whole thread; `off`: nothing stops it',
  read(rest) {
    if (rest === 'off') return { kind: 'budget' };
    const [, usd] = /^\$?(\d{1,9}(?:\.\d{1,6})?)$/.exec(rest) ?? [];
    if (usd === undefined) return undefined;
    const limitUsd = Number(usd);
    const { min, max } = budgetBounds;
    if (limitUsd >= min && limitUsd <= max) return { kind: 'budget', limitUsd };
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `expected ${min} to ${max} USD, found ${usd}`,
      detail: { expected: [min, max], found: limitUsd },
    });
  },
};
