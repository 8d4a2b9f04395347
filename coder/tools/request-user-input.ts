import type { TaskOrder } from '../../core/contract/worker.ts';
import type { CoderTool } from './tool.ts';

const maxOptions = 20;
const noOne =
  'nobody is there to answer. Decide by what the contract and the repository say and record it with record_decision; where neither tells, end the task as not complete and say what has to be known.';

/**
 * A question to a person; in a run that no session stands behind, the model decides, and says so where people will read
 * it.
 */
export const requestUserInput: CoderTool = {
  name: 'request_user_input',
  says: 'Asks the person a question. In a run nobody is there to answer: then decide by what the contract says, and record the decision.',
  takes: {
    question: { type: 'string', says: 'one question, with what depends on the answer' },
    options: { type: 'string', says: 'answers to choose from, one a line', optional: true },
    secret: {
      type: 'boolean',
      says: 'true where the answer is a password, a key or the like: it is shown to nobody and kept nowhere',
      optional: true,
    },
  },
  async use({ question, options = '', secret = false }, _hands, { person }) {
    if (person === undefined) return { text: noOne, isError: false };
    const listed = String(options)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (listed.length > maxOptions)
      return { text: `expected at most ${maxOptions} options, found ${listed.length}`, isError: true };
    const isSecret = secret === true;
    if (isSecret && listed.length > 0)
      return { text: 'a secret is typed, never chosen: ask without `options`', isError: true };
    const answer = await person.answer({
      question: String(question),
      options: [...new Set(listed)],
      ...(isSecret ? { isSecret } : {}),
    });
    return answer === undefined ? { text: noOne, isError: false } : { text: answer, isError: false };
  },
};

/** The same where somebody is there. */
export function toldOfPerson(tool: CoderTool, { person }: Pick<TaskOrder, 'person'>): CoderTool {
  if (tool !== requestUserInput || person === undefined) return tool;
  return { ...tool, says: 'Asks the person a question, and waits for the answer.' };
}
