import type { AssistantMessage, ModelRequest, ToolResult } from '../../core/contract/model.ts';
import { argumentsAsObject } from '../wire/call-arguments.ts';
import { type Json, objectIn, textIn } from '../wire/json-parts.ts';
import { replayed } from '../wire/replayed.ts';
import { geminiFamily } from './model-families.ts';

/** What the vendor takes for the signature of a call that another model made (docs/thought-signatures, questions). */
const nobodysSignature = 'skip_thought_signature_validator';

/** The conversation as `contents`. */
export function toContents({ model, messages }: ModelRequest): readonly Json[] {
  const signsCalls = geminiFamily(model)?.signsCalls ?? false;
  let ids: readonly string[] = [];
  return messages.flatMap((message): readonly Json[] => {
    if (message.role === 'user') return [{ role: 'user', parts: [{ text: message.text }] }];
    // All answers in one turn: the vendor wants as many as there were calls.
    if (message.role === 'tool')
      return [{ role: 'user', parts: message.results.map((result, place) => toAnswer(result, ids[place])) }];
    const parts = partsOfMessage(message, model, signsCalls);
    ids = parts.flatMap(({ functionCall }) => (objectIn(functionCall) ? [idOf(functionCall)] : []));
    return parts.length === 0 ? [] : [{ role: 'model', parts: signsCalls ? signed(parts) : parts }];
  });
}

/** As they came, where they came from this model. */
function partsOfMessage(message: AssistantMessage, model: string, withIds: boolean): readonly Json[] {
  const kept = replayed(message.state, 'gemini', model);
  if (Array.isArray(kept) && kept.every((part) => objectIn(part))) return kept as readonly Json[];
  return [
    ...(message.text === '' ? [] : [{ text: message.text }]),
    ...message.calls.map(({ id, name, arguments: given }) => ({
      functionCall: { ...(withIds ? { id } : {}), name, args: argumentsAsObject(given) },
    })),
  ];
}

/** The first call of a turn has a signature, or the whole question is refused. */
function signed(parts: readonly Json[]): readonly Json[] {
  const first = parts.findIndex(({ functionCall }) => objectIn(functionCall));
  return parts.map((part, place) =>
    place === first && part.thoughtSignature === undefined
      ? { ...part, thoughtSignature: nobodysSignature }
      : part,
  );
}

function idOf(call: unknown): string {
  return textIn(objectIn(call)?.id);
}

/** By place, not by name: the id is the vendor's own, and there is none where it gave none. */
function toAnswer({ name, text, isError }: ToolResult, id = ''): Json {
  return {
    functionResponse: {
      ...(id === '' ? {} : { id }),
      name,
      response: isError ? { error: text } : { output: text },
    },
  };
}

/** Tools as function declarations; nothing where there are none. */
export function toTools({ tools }: ModelRequest): Json {
  if (tools.length === 0) return {};
  return {
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      },
    ],
  };
}

/** Instructions, each a part of its own. */
export function toInstruction({ system }: Pick<ModelRequest, 'system'>): Json {
  const parts = system.filter((text) => text !== '').map((text) => ({ text }));
  return parts.length === 0 ? {} : { systemInstruction: { parts } };
}
