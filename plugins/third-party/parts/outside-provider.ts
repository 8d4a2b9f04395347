/* A model provider that runs in a plugin's process. */
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import {
  anything,
  count,
  mapOf,
  object,
  oneOf,
  parse,
  type Schema,
  text,
  where,
} from '../../../core/base/schema.ts';
import { type FailureKind, failureKinds, type ModelEvent } from '../../../core/interfaces/model.ts';
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
          hints: ['a plugin may call only the hosts that its manifest names'],
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
const call = object('a call', { id: text(512), name: text(512), arguments: text(maxText, 0) });
const usage = object(
  'usage',
  { input: count(0), output: count(0) },
  { cachedInput: count(0), reasoning: count(0) },
);
const visible = where(text(200), '`requestId` in visible ASCII, without blanks', (id) =>
  /^[\x21-\x7e]+$/.test(id),
);
const type = <const T extends string>(name: T) => ({ type: oneOf(name) });
const events = {
  text: object('an event `text`', { ...type('text'), text: text(maxText, 0) }),
  reasoning: object('an event `reasoning`', { ...type('reasoning'), text: text(maxText, 0) }),
  notice: object('an event `notice`', { ...type('notice'), text: text(1000, 0) }),
  calling: object('an event `calling`', { ...type('calling'), name: text(512) }),
  call: object('an event `call`', { ...type('call'), call }),
  usage: object('an event `usage`', { ...type('usage'), usage }),
  asked: object('an event `asked`', { ...type('asked'), requestId: visible }),
  end: object(
    'an event `end`',
    { ...type('end'), end: oneOf('stop', 'calls', 'length', 'paused', 'refused', 'filtered') },
    { state: anything },
  ),
} satisfies { readonly [_ in Exclude<ModelEvent['type'], 'reasoned'>]: Schema<ModelEvent> };
const anEvent = mapOf('an event', anything);
const eventType = object('an event', { type: oneOf(...(Object.keys(events) as (keyof typeof events)[])) });

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
  const { type } = parse(eventType, { type: parse(anEvent, value).type });
  return parse<ModelEvent>(events[type], value);
}
