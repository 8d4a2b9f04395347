import type { Person } from '../../core/contract/person.ts';
import { refusal } from '../../engine/tool/acl/refusal.ts';
import { isConsent } from '../state/interaction.ts';
import type { TurnScope } from './turn-scope.ts';

/** Whoever controls the session, as the runs of its turn ask him. */
export function personOf({ setting: { consent }, ask, newId, stop }: TurnScope): Person {
  return {
    async consent(use, signal) {
      signal.throwIfAborted();
      const verdict = consent.judge(use);
      if (verdict.kind === 'go') return undefined;
      if (verdict.kind === 'refuse') return refusal(verdict.why, { reason: 'approval-policy' });
      const answered = await ask({ subject: `consent ${newId()}`, ...verdict.question });
      consent.answered(use, answered);
      if (isConsent(answered.option)) return undefined;
      if (answered.option === 'abort') {
        stop();
        signal.throwIfAborted();
      }
      return refusal('the person did not approve it', { reason: 'not-approved' });
    },
    async answer({ question, options }) {
      const kind = options.length === 0 ? 'text' : 'single';
      const listed = options.map((label, at) => ({ id: `${at + 1}`, label }));
      const asked = { id: 'answer', prompt: question, kind, options: listed };
      const { given } = await ask({
        subject: `question ${newId()}`,
        kind: 'request_user_input',
        prompt: question,
        metadata: { questions: [asked] },
      });
      const [said] = given.answers?.answer ?? [];
      return listed.find(({ id }) => id === said)?.label ?? said;
    },
  };
}
