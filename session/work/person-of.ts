import type { Person } from '../../core/interfaces/person.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import { askConsent, type ConsentGround } from './ask-consent.ts';
import type { TurnScope } from './turn-scope.ts';

/** Whoever controls the session, as the runs of its turn ask him. */
export function personOf(scope: TurnScope, ground: ConsentGround): Person {
  const { ask, newId, stop } = scope;
  return {
    async consent(use, signal, change) {
      signal.throwIfAborted();
      const said = await askConsent(scope, use, ground, change);
      if (said === 'go') return undefined;
      if (said !== 'abort') return refusal(said.refused, { reason: 'not-approved' });
      stop();
      throw signal.reason;
    },
    async answer({ question, options, isSecret }) {
      const kind = options.length === 0 ? 'text' : 'single';
      const listed = options.map((label, at) => ({ id: `${at + 1}`, label }));
      const secret = isSecret === true ? { secret: true } : {};
      const asked = { id: 'answer', prompt: question, kind, options: listed, ...secret };
      const { given } = await ask({
        subject: `question ${newId()}`,
        kind: 'request_user_input',
        prompt: question,
        metadata: { questions: [asked] },
      });
      const [said] = given.answers?.answer ?? [];
      // Before anybody can repeat it: whoever asked may, in the next reply.
      if (isSecret && said !== undefined) scope.setting.hide?.(said);
      return listed.find(({ id }) => id === said)?.label ?? said;
    },
  };
}
