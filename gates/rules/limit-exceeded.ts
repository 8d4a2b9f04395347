/* Names the limit of the machine that ended a check. */
import type { CheckRecord } from '../../core/interfaces/stage.ts';

const phrases: Readonly<Record<string, string>> = {
  CHECK_MEMORY: 'out of memory',
  CHECK_PROCESSES: 'too many processes',
};

/** In two words, which of the machine's limits ended a check; `undefined` where none did. */
export function limitExceeded({ findings }: Pick<CheckRecord, 'findings'>): string | undefined {
  for (const { rule, detail } of findings) {
    const phrase = typeof detail?.code === 'string' ? phrases[detail.code] : undefined;
    if (rule === 'check-outcome' && phrase !== undefined) return phrase;
  }
  return undefined;
}
