import { isWritError, messageOf } from '../../../core/base/errors.ts';
import { parseCount, parseText, toFields } from '../../../core/base/json-pointer.ts';
import { printable } from '../../../core/base/printable.ts';
import type { EvidencePolicy, EvidenceSource, RetrievalSoFar } from '../../../core/interfaces/privacy.ts';
import type { ManifestEvidence } from '../manifest-parts.ts';
import { pluginFault, withoutHanded } from '../process/plugin-fault.ts';
import type { PartGround } from './handed.ts';

/** An evidence policy of a plugin: it runs in addition to a strategy, and can only refuse sources. */
export interface OutsideEvidence extends EvidencePolicy {
  readonly plugin: string;
  /** It connects to hosts, so data that the spec withholds is removed from its input. */
  readonly sendsOut: boolean;
  refuse(source: EvidenceSource, signal?: AbortSignal): Promise<string | undefined>;
  order(source: EvidenceSource, signal?: AbortSignal): Promise<number>;
  refuseRetrieval(soFar: RetrievalSoFar, signal?: AbortSignal): Promise<string | undefined>;
  /** Throws the fault of an earlier failed call, so that no decision depends on a policy that gave no answer. */
  requireSound(): void;
}

interface SourceVerdict {
  readonly refuse?: string;
  readonly order: number;
}

const maxBytes = 256 * 1024;
const maxReason = 500;
const maxOrder = 1000;
/** Maximum number of cached verdicts: the same source is evaluated when it is found, read and cited. */
const maxKept = 10_000;

/**
 * Calls a plugin to evaluate sources. If it throws, hangs or returns another form, this call and every later one in
 * the run throw PLUGIN_PROCESS_FAULT with its name.
 */
export function outsideEvidence(part: ManifestEvidence, ground: PartGround): OutsideEvidence {
  const { module, refusesRetrieval, timeoutSeconds, hasHosts } = part;
  const { plugin, process, options, handed } = ground;
  const kept = new Map<string, SourceVerdict>();
  let silent: unknown;
  const requireSound = (): void => {
    if (silent !== undefined) throw silent;
  };
  const ask = async <T>(
    call: string,
    about: object,
    read: (answer: unknown, secrets: readonly string[]) => T,
    signal?: AbortSignal,
  ): Promise<T> => {
    requireSound();
    const { secrets, files, masked } = await handed();
    const args = [about, { options, secrets, files }];
    const withinMs = timeoutSeconds * 1000;
    const question = { module, call, args, secrets: masked, idleMs: withinMs, withinMs, maxBytes };
    try {
      return read(await process.ask(question, signal), masked);
    } catch (fault) {
      signal?.throwIfAborted();
      silent = isWritError(fault) ? fault : pluginFault(plugin, 'garbage', messageOf(fault));
      throw silent;
    }
  };
  const reason = (text: string, secrets: readonly string[]): string =>
    `plugin \`${plugin}\`: ${printable(withoutHanded(text, secrets))}`;
  const judge = async (source: EvidenceSource, signal?: AbortSignal): Promise<SourceVerdict> => {
    requireSound();
    const { name, url, trustTier, isAllowedHost } = source;
    const key = JSON.stringify([name, url, trustTier, isAllowedHost]);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const read = (answer: unknown, secrets: readonly string[]): SourceVerdict => {
      if (answer === null) return { order: 0 };
      const fields = toFields(answer, 'nothing, or an object with `refuse` or `order`', ['refuse', 'order']);
      if (Object.keys(fields).length !== 1) throw new TypeError('expected one of `refuse` and `order`');
      if (fields.refuse !== undefined)
        return { refuse: reason(parseText(fields, 'refuse', maxReason), secrets), order: 0 };
      const order = parseCount(fields, 'order', 0);
      if (order > maxOrder) throw new RangeError(`expected \`order\` to be at most ${maxOrder}`);
      return { order };
    };
    const about = { name, trustTier, isAllowedHost, ...(url === undefined ? {} : { url }) };
    const verdict = await ask('judge', about, read, signal);
    if (kept.size < maxKept) kept.set(key, verdict);
    return verdict;
  };
  return {
    plugin,
    sendsOut: hasHosts,
    requireSound,
    rank: (trustTiers) => trustTiers,
    refuse: async (source, signal) => (await judge(source, signal)).refuse,
    order: async (source, signal) => (await judge(source, signal)).order,
    async refuseRetrieval(soFar, signal) {
      requireSound();
      if (!refusesRetrieval) return undefined;
      const read = (answer: unknown, secrets: readonly string[]): string | undefined => {
        if (answer === null) return undefined;
        const fields = toFields(answer, 'nothing, or an object with `refuse`', ['refuse']);
        return reason(parseText(fields, 'refuse', maxReason), secrets);
      };
      return ask('refuseRetrieval', soFar, read, signal);
    },
  };
}
