/* Digests of what goes between writ and a model, and what a provenance names of it. */
import { createHash } from 'node:crypto';
import { canonicalDigest, canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import type { HttpStreamer, OpenAnswer } from '../../core/base/http-question.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { AssistantMessage, ModelRequest } from '../../core/interfaces/model.ts';
import type { ModelExchange, ModelWork } from '../../core/interfaces/model-work.ts';
import { type ClassWords, type SensitiveClass, sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { findSensitive } from './find-sensitive.ts';

/** Of a question's body. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Nesting of a question's body. */
export const maxBodyDepth = 256;

/** The JSON value of a question's body; `undefined` for a body that is no strict JSON. */
export function jsonBody(octets: Buffer): { readonly value: unknown } | undefined {
  try {
    return parseStrictJson(octets, { maxBytes: maxBodyBytes, maxDepth: maxBodyDepth });
  } catch {
    return undefined;
  }
}

/** SHA-256 of a question's body: of its RFC 8785 form, or of its bytes if it is no JSON. */
function questionDigest(body: string | Uint8Array): string {
  const octets = Buffer.from(body);
  const json = jsonBody(octets);
  return json === undefined ? sha256Hex(octets) : canonicalDigest(json.value);
}

/**
 * The same streamer. It reports each exchange once: when the answer ends, when its reader leaves, or without an answer
 * if there is none.
 */
export function digestExchanges(
  stream: HttpStreamer,
  heard: (exchange: ModelExchange) => void,
): HttpStreamer {
  return async (asked) => {
    const question = questionDigest(asked.body ?? '');
    let answer: OpenAnswer;
    try {
      answer = await stream(asked);
    } catch (fault) {
      heard({ question });
      throw fault;
    }
    const hash = createHash('sha256');
    let isHeard = false;
    const over = (): void => {
      if (isHeard) return;
      isHeard = true;
      heard({ question, answer: hash.digest('hex') });
    };
    const read = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const piece of answer.body) {
          hash.update(piece);
          yield piece;
        }
      } finally {
        over();
      }
    };
    return {
      status: answer.status,
      headers: answer.headers,
      body: read(),
      async [Symbol.asyncDispose]() {
        over();
        await answer[Symbol.asyncDispose]();
      },
    };
  };
}

/** Digests of a turn with a backend whose traffic is not seen: of the RFC 8785 forms of request and reply. */
export function digestTurn(request: ModelRequest, { text, calls }: AssistantMessage): ModelExchange {
  return { question: plainDigest(request), answer: plainDigest({ text, calls }) };
}

function plainDigest(value: object): string {
  const plain = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed() : member,
  );
  return canonicalDigest(JSON.parse(plain));
}

/** Most exchanges that a provenance lists. */
const maxExchanges = 5000;

/** Collects the classes of data in texts; each text is searched once. */
export function openClasses(words: ClassWords): {
  add(text: string): void;
  found(): ModelWork['data_classes'];
} {
  const seen = new Set<string>();
  const found = new Set<SensitiveClass>();
  return {
    add(text) {
      const missing = sensitiveClasses.filter((one) => !found.has(one));
      const key = sha256Hex(text);
      if (missing.length === 0 || text === '' || seen.has(key)) return;
      seen.add(key);
      for (const match of findSensitive(Buffer.from(text), {
        classes: new Set(missing),
        words,
        weighs: true,
      }))
        if (!match.reserved) found.add(match.class);
    },
    found: () => ['public', ...sensitiveClasses.filter((one) => found.has(one))],
  };
}

/** Most session logs that a provenance lists of one model. */
const maxLogs = 64;

function toLogs(logs: ReadonlySet<string>): Pick<ModelWork, 'logs'> {
  return logs.size === 0 ? {} : { logs: [...logs].slice(0, maxLogs) };
}

/**
 * One entry for each model in each role, with what its calls have together. Beyond the most exchanges of a provenance
 * the earliest are counted.
 */
export function joinModelWork(works: readonly ModelWork[]): readonly ModelWork[] {
  const joined = new Map<string, ModelWork>();
  for (const work of works) {
    const { tools, instructions, data_classes, exchanges, logs = [], omitted = 0, ...role } = work;
    const key = canonicalize(role);
    const known = joined.get(key);
    const files = [...(known?.instructions ?? []), ...instructions];
    const left = (known?.omitted ?? 0) + omitted;
    const sent = new Set([...(known?.data_classes ?? []), ...data_classes]);
    joined.set(key, {
      ...role,
      tools: [...new Set([...(known?.tools ?? []), ...tools])].sort().slice(0, 256),
      instructions: [...new Map(files.map((file) => [canonicalize(file), file])).values()].slice(0, 64),
      data_classes: (['public', ...sensitiveClasses] as const).filter((one) => sent.has(one)),
      exchanges: [...(known?.exchanges ?? []), ...exchanges],
      ...toLogs(new Set([...(known?.logs ?? []), ...logs])),
      ...(left === 0 ? {} : { omitted: left }),
    });
  }
  let over = [...joined.values()].reduce((sum, { exchanges }) => sum + exchanges.length, 0) - maxExchanges;
  return [...joined.values()].map((work) => {
    const dropped = Math.min(Math.max(0, over), work.exchanges.length);
    over -= dropped;
    if (dropped === 0) return work;
    return { ...work, exchanges: work.exchanges.slice(dropped), omitted: (work.omitted ?? 0) + dropped };
  });
}
