/* Questions of a session as permission requests of an editor, and its answers as answers of a person. */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  ContentBlock,
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionRequest,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { WritError } from '../../core/base/errors.ts';
import { readMessage } from '../api/read-request.ts';
import {
  type Asked,
  type AskedQuestion,
  answeredWords,
  type Choice,
  changeAsked,
  choicesOf,
  type GivenAnswer,
  isApproval,
  questionsOf,
  shownFirst,
} from '../screen/asked.ts';
import { textOf, visible } from '../screen/line.ts';
import { markdownLines } from '../screen/markdown-lines.ts';
import { questionBody } from '../screen/question-body.ts';
import { isConsent } from '../state/interaction.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Given } from '../thread/attachments.ts';
import { diffsOf, fenced, locationsOf } from './updates.ts';

type Permission = Omit<RequestPermissionRequest, 'sessionId'>;

/** Columns of the text of a question. */
const columns = 100;

/** Answers that leave a question to be asked again by words or by a toggle, or that consent to nothing. */
const refusing: ReadonlySet<string> = new Set([
  'deny',
  'abort',
  'cancel',
  'modify',
  'network',
  'leave',
  'stop',
  'discard',
  'drop',
  'later',
]);
const lasting: ReadonlySet<string> = new Set(['approve_scope', 'approve_session']);

/** Rejecting hunks needs a screen, and without a rejected hunk this answer is refused. */
const onScreens: ReadonlySet<string> = new Set(['take-out']);

/** What no question has as an option. */
const noAnswer = { id: 'no answer', label: 'No answer', letter: undefined, about: 'the turn stops' };

/** The one inner question of a question; `undefined` if it has options of its own. */
function innerOf(asked: Asked): AskedQuestion | undefined {
  return questionsOf(asked)[0];
}

/** Whether the next message of the person is the answer. */
export function wantsWords(asked: Asked): boolean {
  return asked.kind === 'request_user_input' && innerOf(asked)?.kind !== 'single';
}

/** The words with which a question for words is put. A secret is not asked for: editors store what is typed. */
export function wordsOf(asked: Asked): { readonly text: string; readonly isSecret: boolean } {
  const isSecret = questionsOf(asked).some(({ secret }) => secret === true);
  const prompt = [asked.title, innerOf(asked)?.prompt].filter((one) => one !== undefined).join(': ');
  const how = isSecret
    ? 'The answer is a secret, and an editor stores what is typed: answer it with `writ code --resume`.'
    : 'Your next message is the answer.';
  return { text: `${prompt}\n\n${how}`, isSecret };
}

/**
 * The answers of the screens: of an approval the three that they show first, of any other question all of them. What
 * does not consent comes last, so that a client that always allows or always refuses gives no other answer.
 */
export function offeredChoices(asked: Asked): readonly Choice[] {
  const first = shownFirst(asked);
  const all = choicesOf(asked, innerOf(asked)).filter(({ id }) => !onScreens.has(id));
  const shown = all.filter(({ id }) => first === undefined || first.includes(id));
  const [allowed, refused] = [false, true].map((no) => shown.filter(({ id }) => refusing.has(id) === no));
  const ends = ['cancel', 'deny', 'leave', 'stop', 'discard'];
  const ordered = refused?.toSorted((one, other) => +ends.includes(other.id) - +ends.includes(one.id)) ?? [];
  return [...(allowed ?? []), ...(ordered.length === 0 ? [noAnswer] : ordered)];
}

/** The permission request of a question, with what the screens show of it. */
export function toPermission(
  asked: Asked,
  { workingDir, plans }: Pick<Snapshot, 'workingDir' | 'plans'>,
  root = workingDir,
): Permission {
  const choices = offeredChoices(asked);
  const change = changeAsked(asked);
  const path = isApproval(asked) && change !== undefined ? (asked.metadata.subject ?? '') : '';
  const body = questionBody(asked, (text) => markdownLines(text, { columns })).map(textOf);
  const about = choices.filter((one) => one.about !== '').map((one) => `${one.label}: ${one.about}`);
  const note = change?.note === undefined ? [] : [`  what it would change: ${change.note}`];
  const lines = [...planLines(asked, plans), ...body, ...note, '', ...about];
  const [place] = locationsOf([path], root);
  return {
    toolCall: {
      toolCallId: asked.id,
      title: visible(asked.title ?? asked.prompt ?? 'Question'),
      kind: kindOf(asked),
      status: 'pending',
      content: [
        ...(change?.diff === undefined || place === undefined ? [] : diffsOf(place.path, change.diff)),
        fenced(lines.join('\n')),
      ],
      ...(place === undefined ? {} : { locations: [place] }),
    },
    options: choices.map(
      ({ id, label }): PermissionOption => ({ optionId: id, name: visible(label), kind: optionKind(id) }),
    ),
  };
}

function optionKind(id: string): PermissionOptionKind {
  if (refusing.has(id) || id === noAnswer.id) return 'reject_once';
  return lasting.has(id) ? 'allow_always' : 'allow_once';
}

function kindOf(asked: Asked): ToolKind {
  if (!isApproval(asked)) return 'other';
  const { change, command, tool = '' } = asked.metadata;
  if (change !== undefined) return change.changeType === 'delete' ? 'delete' : 'edit';
  if (command !== undefined) return 'execute';
  return tool.startsWith('web') ? 'fetch' : 'other';
}

/** The plan itself, before what it may do. */
function planLines(asked: Asked, plans: Snapshot['plans']): readonly string[] {
  if (asked.kind !== 'post_plan_choice') return [];
  const plan = plans.find(({ id }) => id === asked.metadata.planId);
  if (plan === undefined) return [];
  const { title, steps } = plan;
  const named = title === undefined ? [] : [`Plan: ${title}`];
  return [...named, ...steps.map(({ step }, at) => `  ${at + 1}. ${step}`), ''];
}

/** The answer that an option means; `undefined` for everything that is no answer of this question. */
export function toAnswer(asked: Asked, optionId: string | undefined): GivenAnswer | undefined {
  const chosen = offeredChoices(asked).find(({ id }) => id === optionId && id !== noAnswer.id);
  if (chosen === undefined) return undefined;
  const inner = innerOf(asked);
  return inner === undefined ? { selectedOption: chosen.id } : { answers: { [inner.id]: [chosen.id] } };
}

/** Words of a person as the answer to a question that wants them. REQUEST_INVALID for a secret, and for attachments. */
export function toWordAnswer(asked: Asked, { text, given }: PromptMessage): GivenAnswer {
  const inner = innerOf(asked);
  const { isSecret, text: words } = wordsOf(asked);
  if (isSecret || inner === undefined) throw new WritError('REQUEST_INVALID', { message: words });
  if (given.length === 0) return { answers: { [inner.id]: [text] } };
  throw new WritError('REQUEST_INVALID', {
    message: 'a question waits for words: nothing can be attached to its answer',
  });
}

/** The answer "no"; `undefined` where the end of the turn is the only one. */
export function noTo(asked: Asked): GivenAnswer | undefined {
  if (asked.kind === 'request_user_input') return undefined;
  return { selectedOption: isApproval(asked) ? 'deny' : 'cancel' };
}

/** How a settled question is shown from then on. */
export function settledWords(asked: Asked, given: GivenAnswer | undefined) {
  const [chosen] = Object.values(given?.answers ?? {})[0] ?? [];
  const choice = choicesOf(asked, innerOf(asked)).find(({ id }) => id === chosen);
  const words = choice === undefined ? given && answeredWords(asked, given) : `you chose: ${choice.label}`;
  const isYes = choice === undefined ? isConsent(given?.selectedOption ?? '') : !refusing.has(choice.id);
  return {
    title: visible(`${asked.title ?? asked.prompt ?? 'Question'} · ${words ?? 'no answer'}`),
    status: isYes ? ('completed' as const) : ('failed' as const),
  };
}

/** A prompt as a message of a person. */
export interface PromptMessage {
  readonly text: string;
  readonly given: readonly Given[];
}

/**
 * Reads the blocks of a prompt. A link to a file of the workspace becomes `@path`, embedded text and images become
 * attachments, and any other link stays words. INVALID_BODY; REQUEST_INVALID for what was not offered to the client.
 */
export function toMessage(blocks: readonly ContentBlock[], root: string): PromptMessage {
  const texts: string[] = [];
  const files: { name: string; text: string }[] = [];
  const images: Given[] = [];
  for (const block of blocks)
    switch (block.type) {
      case 'text':
        texts.push(block.text);
        break;
      case 'resource_link': {
        const path = workspacePath(block.uri, root);
        texts.push(path === undefined ? ` ${block.uri} ` : ` ${mentionOf(path)} `);
        break;
      }
      case 'image':
        images.push({ name: `image-${images.length + 1}`, data: block.data });
        break;
      case 'resource': {
        const { resource } = block;
        const name = visible(workspacePath(resource.uri, root) ?? resource.uri).slice(-maxName);
        texts.push(` \`${name}\` `);
        if ('text' in resource) files.push({ name, text: resource.text });
        else images.push({ name, data: resource.blob });
        break;
      }
      default:
        throw new WritError('REQUEST_INVALID', {
          message: `a block of type \`${block.type}\` is not supported. Send text, images, links or resources.`,
          detail: { type: block.type },
        });
    }
  const { text, given = [] } = readMessage({ text: texts.join('').trim(), attachments: files });
  return { text, given: [...given, ...images] };
}

const maxName = 200;

/** Path of a file in the workspace, relative to it; `undefined` for any other address. */
function workspacePath(uri: string, root: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    const path = relative(root, fileURLToPath(uri.replace(/[?#].*$/s, '')));
    const isInside = path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..';
    return isInside ? path : undefined;
  } catch {
    return undefined;
  }
}

/** As a person names a file. */
function mentionOf(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}
