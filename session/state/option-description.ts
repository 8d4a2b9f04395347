import { type Interaction, type InteractionKind, optionsOf } from './interaction.ts';
import type { SessionSettings } from './settings/session-settings.ts';

/** Characters of a description. */
const most = 400;

const refusals = { deny: 'it is not made', abort: 'it is not made, and the turn stops' };

/** What an option does, where its label does not say all of it. */
const said: Readonly<Partial<Record<InteractionKind, Readonly<Record<string, string>>>>> = {
  approval: refusals,
  sandbox_approval: refusals,
  intent_review_choice: {
    confirm: 'it is the contract of the run; a plan is made of it',
    modify: 'it is drafted anew, with what you say',
    cancel: 'the turn ends, nothing was changed',
  },
  post_plan_choice: {
    execute: 'runs it; what passes the gates is committed',
    modify: 'it is planned anew, with what you say',
    cancel: 'the turn ends, nothing was changed',
  },
};

/** Of a plan where changes are held. */
const executesHeld = 'runs it; what passes the gates is held until you have reviewed it';

const networks: Readonly<Record<string, string>> = {
  allow: 'commands of the run may reach the network now: takes that away',
  deny: 'commands of the run may not reach the network now: lets them',
};

/** What an option of this question would do, in a person's words; `undefined` where its label says it all. */
export function optionDescription(
  { kind, metadata }: Pick<Interaction, 'kind' | 'metadata'>,
  option: string,
  { review }: Pick<SessionSettings, 'review'> = {},
): string | undefined {
  // What an approval would cover depends on the very call.
  const reuse = metadata.reuse as Readonly<Record<string, unknown>> | undefined;
  const covers = typeof reuse === 'object' && reuse !== null ? reuse[option] : undefined;
  const isHeld = kind === 'post_plan_choice' && option === 'execute' && review === 'on';
  const told =
    kind === 'post_plan_choice' && option === 'network'
      ? networks[metadata.networkAccess === 'allow' ? 'allow' : 'deny']
      : (covers ?? (isHeld ? executesHeld : said[kind]?.[option]));
  return typeof told === 'string' && told !== '' ? told.slice(0, most).toWellFormed() : undefined;
}

/** The options of a question as clients get them. */
export function describedOptions(
  question: Pick<Interaction, 'kind' | 'metadata'>,
  settings: Pick<SessionSettings, 'review'>,
) {
  return optionsOf[question.kind].map(([id, label]) => {
    const description = optionDescription(question, id, settings);
    return { id, label, ...(description === undefined ? {} : { description }) };
  });
}
