import { type Interaction, type InteractionAnswer, questionsOf } from './interaction.ts';
import type { SessionState } from './state.ts';

/** Title of the entry of a transcript that says what a person answered. */
export const answerTitle = 'Answer';

/** Characters of what was asked, and of one answer. */
const most = { asked: 200, given: 4000 } as const;

/**
 * What a person answered in words of his own, or to a question of a model, for whoever reads the transcript later: each
 * question with its answer; of a secret that there is one. `undefined` where the choice alone is all.
 */
export function answerNote(
  { plans }: Pick<SessionState, 'plans'>,
  asked: Interaction,
  { note, answers = {} }: InteractionAnswer,
): string | undefined {
  const lines =
    asked.kind === 'request_user_input'
      ? questionsOf(asked).map(({ id, prompt, options = [], secret }) => {
          // Before anything is looked up: an answer to a secret question is kept nowhere.
          if (secret === true) return pair(prompt, 'answered, not shown');
          const [given = ''] = answers[id] ?? [];
          return pair(prompt, options.find((option) => option.id === given)?.label ?? given);
        })
      : [
          ...(note === undefined ? [] : [pair('Modify', note)]),
          ...Object.entries(answers).map(([line, [given = '']]) => pair(stepOf(plans, line), given)),
        ];
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** The line of a plan that a note is on, in its words. */
function stepOf(plans: SessionState['plans'], line: string): string {
  return plans.at(-1)?.steps.find(({ id }) => id === line)?.step ?? line;
}

function pair(asked: string, given: string): string {
  return `${cut(asked.replace(/\s+/g, ' ').trim(), most.asked)} → ${cut(given, most.given)}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
