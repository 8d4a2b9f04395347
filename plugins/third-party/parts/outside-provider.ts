import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import { parseCount, parseText, parseWord, toFields } from '../../../core/base/json-pointer.ts';
import {
  type FailureKind,
  failureKinds,
  type ModelEvent,
  type ModelUsage,
  type ToolCall,
} from '../../../core/interfaces/model.ts';
import {
  type Provider,
  type ProviderSetting,
  type ProviderSource,
  providerFailure,
} from '../../../core/interfaces/provider.ts';
import type { ManifestProvider } from '../manifest-parts.ts';
import { opensHost } from '../plugin-access.ts';
import { isPassing } from '../process/plugin-fault.ts';
import type { PartEnvironment } from './outside-evidence.ts';

/** Until the next piece of a reply: a model may think for minutes. */
const idleMs = 300_000;
const withinMs = 3_600_000;
const maxBytes = 64 * 1024 * 1024;

/** A plugin's model backend. None of its code runs before the first call. */
export function outsideProvider(part: ManifestProvider, ground: PartEnvironment): ProviderSource {
  const { name, title, base, keys, defaultModel } = part;
  return {
    title,
    keys,
    base,
    defaultModel,
    flags: [],
    open(setting) {
      if (!opensHost(ground.hosts, setting.base))
        throw new WritError('PROVIDER_OPTION', {
          message: `plugin \`${ground.plugin}\` does not declare the host of \`${setting.base}\``,
          detail: { plugin: ground.plugin, provider: name, expected: ground.hosts },
          hints: ['it is asked at the hosts that its manifest names, and nowhere else'],
        });
      return openProvider(part, ground, setting);
    },
  };
}

function openProvider(
  { name, module, keys }: ManifestProvider,
  { plugin, process, options, handed }: PartEnvironment,
  { key, base }: ProviderSetting,
): Provider {
  return {
    name,
    async *ask(request, signal) {
      const { secrets, files, masked } = await handed();
      // Its key comes as `key`, from wherever it was found.
      const others = Object.fromEntries(Object.entries(secrets).filter(([one]) => !keys.includes(one)));
      const context = { base, options, secrets: others, files, ...(key === undefined ? {} : { key }) };
      const values = [...masked, ...(key === undefined ? [] : [key])];
      const call = { module, call: 'ask', args: [request, context], secrets: values };
      const reader = modelEventReader();
      try {
        for await (const part of process.stream({ ...call, idleMs, withinMs, maxBytes }, signal))
          yield reader.take(part);
        reader.finish();
      } catch (fault) {
        signal.throwIfAborted();
        throw toFailure(name, plugin, fault);
      }
    },
  };
}

function toFailure(provider: string, plugin: string, fault: unknown): unknown {
  if (isWritError(fault, 'PLUGIN_PROCESS_FAULT')) {
    const said = (fault.detail.said ?? {}) as Readonly<Record<string, unknown>>;
    const kind = failureKinds.find((one) => one === said.kind) ?? kindOfCode(said.code);
    return providerFailure({
      provider,
      kind,
      found: fault.message,
      ...numberOf(said, 'status', 100, 599),
      ...numberOf(said, 'retryAfterSeconds', 0, 86_400),
      cause: fault,
    });
  }
  if (fault instanceof WritError) return fault;
  const found = `plugin \`${plugin}\`: ${messageOf(fault)}`;
  return providerFailure({ provider, kind: 'broken-reply', found, cause: fault });
}

/** A host that was not there may be there soon; one that is not open will not be. */
function kindOfCode(code: unknown): FailureKind {
  const passes = isPassing(code);
  if (passes === undefined) return 'broken-reply';
  return passes ? 'unreachable' : 'forbidden';
}

function numberOf<K extends string>(
  said: Readonly<Record<string, unknown>>,
  field: K,
  least: number,
  most: number,
): { readonly [P in K]?: number } {
  const value = said[field];
  const isSound = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
  return isSound ? ({ [field]: value } as { readonly [P in K]: number }) : {};
}

const maxText = 8 * 1024 * 1024;
const maxCalls = 128;
const types = ['text', 'reasoning', 'calling', 'call', 'usage', 'notice', 'asked', 'end'] as const;
const ends = ['stop', 'calls', 'length', 'refused', 'filtered'] as const;
const usageFields = ['input', 'output', 'cachedInput', 'reasoning'] as const;

/**
 * Reads the events of one reply as they arrive. Each must have a known form, calls must have distinct ids, and `end`
 * must be last. Throws the fault of an invalid event.
 */
export function modelEventReader(): { take(value: unknown): ModelEvent; finish(): void } {
  const ids = new Set<string>();
  let ended = false;
  return {
    take(value) {
      if (ended) throw new TypeError('expected `end` to be the last event');
      const event = parseEvent(value);
      if (event.type === 'call') {
        if (ids.has(event.call.id)) throw new TypeError('expected calls with an `id` of their own');
        ids.add(event.call.id);
        if (ids.size > maxCalls) throw new RangeError(`expected at most ${maxCalls} calls in one message`);
      }
      ended ||= event.type === 'end';
      return event;
    },
    finish() {
      if (!ended) throw new TypeError('expected `end`, the reply has none');
    },
  };
}

function parseEvent(value: unknown): ModelEvent {
  const type = parseWord(toFields(value, 'an event'), 'type', types);
  if (type === 'call') {
    const { call } = toFields(value, 'an event `call`', ['type', 'call']);
    return { type, call: parseCall(call) };
  }
  if (type === 'calling') {
    const fields = toFields(value, 'an event `calling`', ['type', 'name']);
    return { type, name: parseText(fields, 'name', 512) };
  }
  if (type === 'usage') {
    const { usage } = toFields(value, 'an event `usage`', ['type', 'usage']);
    return { type, usage: parseUsage(usage) };
  }
  if (type === 'asked') {
    const fields = toFields(value, 'an event `asked`', ['type', 'requestId']);
    const requestId = parseText(fields, 'requestId', 200);
    if (!/^[\x21-\x7e]+$/.test(requestId))
      throw new TypeError('expected `requestId` in visible ASCII, without blanks');
    return { type, requestId };
  }
  if (type === 'end') {
    const fields = toFields(value, 'an event `end`', ['type', 'end', 'state']);
    const { state } = fields;
    return { type, end: parseWord(fields, 'end', ends), ...(state === undefined ? {} : { state }) };
  }
  const fields = toFields(value, `an event \`${type}\``, ['type', 'text']);
  return { type, text: parseText(fields, 'text', type === 'notice' ? 1000 : maxText, 0) };
}

function parseCall(value: unknown): ToolCall {
  const fields = toFields(value, 'a call', ['id', 'name', 'arguments']);
  return {
    id: parseText(fields, 'id', 512),
    name: parseText(fields, 'name', 512),
    arguments: parseText(fields, 'arguments', maxText, 0),
  };
}

function parseUsage(value: unknown): ModelUsage {
  const fields = toFields(value, 'usage', usageFields);
  const counted = usageFields.filter(
    (field) => fields[field] !== undefined || field === 'input' || field === 'output',
  );
  return Object.fromEntries(
    counted.map((field) => [field, parseCount(fields, field, 0)]),
  ) as unknown as ModelUsage;
}
