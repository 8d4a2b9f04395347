/* The check kind `policy`. */
import type { CheckRunner } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { failure } from './judge-exit.ts';
import { commandCheck } from './test-suite.ts';

/**
 * Words of a policy check's command; `undefined` for text that only a shell could make sense of (operators, `$`, open
 * quotes).
 */
export function policyWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const character = command.charAt(at);
    if (character === "'" || character === '"') {
      const end = command.indexOf(character, at + 1);
      const inside = end === -1 ? undefined : command.slice(at + 1, end);
      if (inside === undefined || (character === '"' && /[$`\\]/.test(inside))) return undefined;
      word = (word ?? '') + inside;
      at = end;
    } else if (character === ' ' || character === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>()$`\\\n\r*?[\]{}#~!]/.test(character)) {
      return undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

/**
 * Check kind `policy`: the first word names a registered rule, and the other words are its arguments. Errors of the
 * rule fail the check. If the first word names no rule, the command runs under the ACL. A rule name followed by shell
 * syntax is refused. If a rule waits for a person, the check waits.
 */
export const policyCheck = (pool: Pick<WorkerPool, 'run'>): CheckRunner => ({
  async run(context) {
    const command = context.check.command ?? '';
    const words = policyWords(command);
    const [name = '', ...args] =
      words ?? policyWords(command.trim().split(/[\s|&;<>()$`]/, 1)[0] ?? '') ?? [];
    const findings = name === '' ? undefined : await context.askRule(name, args);
    if (!findings) return commandCheck(pool).run(context);
    if (words) return { findings, reports: [], ...(waitsForPerson(findings) ? { waiting: true } : {}) };
    const refusal = failure(
      'POLICY_ARGUMENTS',
      `expected the policy \`${name}\` and plain words, found shell syntax: \`${command.slice(0, 200)}\``,
    );
    return { findings: [refusal], reports: [] };
  },
});

/**
 * True if a person must act before the rule can pass: a finding has `detail.waiting` true. An `error` beside it still
 * fails the check.
 */
function waitsForPerson(findings: readonly Finding[]): boolean {
  return findings.some(({ detail }) => detail?.waiting === true);
}
