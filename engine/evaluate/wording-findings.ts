import type { Finding } from '../../core/interfaces/finding.ts';
import type { CommitWording, WordingPart } from '../state/commit-wording.ts';

const parts: Readonly<Record<WordingPart, readonly [what: string, wayOut: string]>> = {
  message: ['the message', 'reword the commit, or give another message: `--message TEXT`'],
  author: ['the author', 'name the author: `--author "NAME <MAIL>"`'],
  people: ['the name of an author, co-author or committer', 'correct it in the commits, or in the mail'],
  summary: ['the summary of the contract', 'write another contract'],
};

/**
 * Returns findings of rule `secrets` for texts that held a secret on arrival and are stored masked, because a sealed
 * commit cannot be withdrawn. Pure.
 */
export function wordingFindings({ refused = [] }: Pick<CommitWording, 'refused'>): readonly Finding[] {
  return refused.map((part) => {
    const [what, wayOut] = parts[part];
    return {
      rule: 'secrets',
      severity: 'error',
      message: `${what} of the commit that would be sealed holds what looks like a secret: ${wayOut}`,
      detail: { wording: part },
    };
  });
}
