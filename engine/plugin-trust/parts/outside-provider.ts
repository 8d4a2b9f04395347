import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import { type FailureKind, failureKinds } from '../../../core/contract/model.ts';
import {
  type Provider,
  type ProviderSetting,
  type ProviderSource,
  providerFailure,
} from '../../../core/contract/provider.ts';
import type { ManifestProvider } from '../manifest-provider.ts';
import { opensHost } from '../opens-host.ts';
import { isPassing } from '../process/obstacle.ts';
import { modelEventReader } from './parse-model-event.ts';
import type { PartGround } from './part-ground.ts';

/** Until the next piece of a reply: a model may think for minutes. */
const idleMs = 300_000;
const withinMs = 3_600_000;
const maxBytes = 64 * 1024 * 1024;

/** A model backend that a plugin brings. Nothing of it runs before it is asked. */
export function outsideProvider(part: ManifestProvider, ground: PartGround): ProviderSource {
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
  { plugin, process, options, handed }: PartGround,
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
