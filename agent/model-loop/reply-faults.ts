/* Guards a turn of a model: removes instructions from its input, and finds invalid tool calls in its reply. */
import { quoted } from '../../core/base/printable.ts';
import type {
  AssistantMessage,
  ModelMessage,
  ToolCall,
  ToolDeclaration,
  ToolResult,
} from '../../core/interfaces/model.ts';

/**
 * Patterns of text that tries to instruct a model. Every gap is bounded, so matching is linear. Only the tools' own
 * refusals catch an instruction that is not listed here.
 */
const knownInstructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|your|system)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|context)\b/giu,
  /\b(?:do not|don't|never)\b[^.\n]{0,20}\b(?:follow|obey|listen to)\b[^.\n]{0,40}\b(?:instructions?|rules?|system|contract|user)\b/giu,
  /\byou are (?:now|no longer)\b[^.\n]{0,80}/giu,
  /\b(?:new|updated|real|actual|hidden) (?:system )?(?:instructions?|prompts?|orders?|task)\s*:/giu,
  /\b(?:system|developer|assistant) (?:prompt|message|note|override)\s*:/giu,
  /^[ \t]*(?:#{1,6}[ \t]*)?(?:system|assistant|developer)[ \t]*:/gimu,
  /<\|?(?:im_start|im_end|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id)\|?>/giu,
  /<\/?(?:system|assistant|instructions?|untrusted)>/giu,
  /\[\/?(?:INST|SYSTEM|SYS)\]/gu,
  /\b(?:reveal|print|show|repeat|leak|output|send)\b[^.\n]{0,40}\b(?:system prompt|hidden prompt|initial instructions|api[ _-]?keys?|credentials|secrets)\b/giu,
  /\b(?:as an ai|dear (?:ai|assistant|model|llm)|attention (?:ai|assistant|model|llm)|(?:ai|llm) (?:agents?|assistants?) (?:must|should|shall))\b[^.\n]{0,80}/giu,
  /\bpretend (?:to be|that you)\b[^.\n]{0,80}/giu,
];

/** Replaces a removed instruction. */
const removedInstruction = '[instruction removed]';

/** Removes text that tries to instruct a model; other text is unchanged. */
export function withoutInstructions(text: string): string {
  return knownInstructions.reduce((left, pattern) => left.replace(pattern, removedInstruction), text);
}

type Validate = (value: unknown) => string | undefined;

/** Returns tool results that report which calls of a message are invalid; `undefined` if all are valid. */
export type FindReplyFaults = (message: AssistantMessage) => readonly ToolResult[] | undefined;

/** Of a call that is as it should be, beside one that is not. */
const otherwise = 'not done: another call of this message is malformed';

/** Cache of compiled tool schemas, oldest first: attempts share a few tool sets, and compiling them is slow. */
const compiled = new Map<string, Promise<FindReplyFaults>>();
const maxCompiled = 16;

/** Compiled once per set of tool declarations, across attempts. */
export function replyFaults(tools: readonly ToolDeclaration[]): Promise<FindReplyFaults> {
  const key = JSON.stringify(tools.map(({ name, parameters }) => [name, parameters]));
  const known = compiled.get(key) ?? compileFaults(tools);
  compiled.delete(key);
  compiled.set(key, known);
  known.catch(() => compiled.delete(key));
  for (const oldest of [...compiled.keys()].slice(0, -maxCompiled)) compiled.delete(oldest);
  return known;
}

async function compileFaults(tools: readonly ToolDeclaration[]): Promise<FindReplyFaults> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  const byName = new Map<string, Validate>(
    tools.map(({ name, parameters }) => {
      const validate = ajv.compile(parameters);
      return [
        name,
        (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'arguments' })),
      ];
    }),
  );
  const faultOf = ({ name, arguments: given }: ToolCall): string | undefined => {
    const validate = byName.get(name);
    if (validate === undefined)
      return `there is no tool ${quoted(name)}; there is ${[...byName.keys()].join(', ')}`;
    try {
      return validate(JSON.parse(given));
    } catch {
      return 'the arguments are not JSON';
    }
  };
  return ({ calls }) => {
    const faults = calls.map(faultOf);
    if (faults.every((fault) => fault === undefined)) return undefined;
    return calls.map(({ id, name }, index) => ({
      callId: id,
      name,
      text: faults[index] ?? `${otherwise}; send all of them again`,
      isError: true,
    }));
  };
}

/** Checks only that arguments are JSON (`encodingPolicy: strict-json`), not that they match the declared schema. */
export const unparsedCalls: FindReplyFaults = ({ calls }) => {
  if (calls.every(({ arguments: given }) => parses(given))) return undefined;
  return calls.map(({ id, name, arguments: given }) => ({
    callId: id,
    name,
    text: parses(given) ? otherwise : 'the arguments are not JSON',
    isError: true,
  }));
};

const maxFault = 300;

/** The fault of a message, from its results. The text may quote the model. */
export function faultIn(results: readonly ToolResult[]): string {
  const { text = '' } = results.find((one) => !one.text.startsWith(otherwise)) ?? {};
  return text.slice(0, maxFault).toWellFormed();
}

/** Whether a reply is what a program can read. */
export function isCallOrJson({ text, calls }: AssistantMessage): boolean {
  return calls.length > 0 || parses(text);
}

/** Sent to a model that replied with neither. */
export const neitherNor: ModelMessage = {
  role: 'user',
  text: 'Your reply is neither a call of a tool nor JSON. Reply with one of them.',
};

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
