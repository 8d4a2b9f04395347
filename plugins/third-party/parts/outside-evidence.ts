/* Evidence policies and logs that run in a plugin's process. */
import { isWritError, messageOf } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import {
  anything,
  as,
  count,
  list,
  object,
  parse,
  type Schema,
  text,
  where,
} from '../../../core/base/schema.ts';
import type { EvidencePolicy, EvidenceSource, RetrievalSoFar } from '../../../core/interfaces/privacy.ts';
import type { OutsideLog } from '../../../core/interfaces/sealing.ts';
import type { ManifestEvidence, ManifestLog, PluginNeeds } from '../manifest-parts.ts';
import type { PluginAccess } from '../plugin-access.ts';
import { pluginFault, withoutHanded } from '../process/plugin-fault.ts';
import type { PluginProcess } from '../process/plugin-process.ts';

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
const refusal = object('nothing, or an object with `refuse`', { refuse: text(maxReason) });
const verdict = where(
  object(
    'nothing, or an object with `refuse` or `order`',
    {},
    { refuse: text(maxReason), order: count(0, maxOrder) },
  ),
  'one of `refuse` and `order`',
  (given) => Object.keys(given).length === 1,
);
/** Maximum number of cached verdicts: the same source is evaluated when it is found, read and cited. */
const maxKept = 10_000;

/**
 * Calls a plugin to evaluate sources. If it throws, hangs or returns another form, this call and every later one in
 * the run throw PLUGIN_PROCESS_FAULT with its name.
 */
export function outsideEvidence(part: ManifestEvidence, ground: PartEnvironment): OutsideEvidence {
  const { module, refusesRetrieval, timeoutSeconds } = part;
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
      const { refuse, order = 0 } = parse(verdict, answer);
      return refuse === undefined ? { order } : { refuse: reason(refuse, secrets), order: 0 };
    };
    const about = { name, trustTier, isAllowedHost, ...(url === undefined ? {} : { url }) };
    const found = await ask('judge', about, read, signal);
    if (kept.size < maxKept) kept.set(key, found);
    return found;
  };
  return {
    plugin,
    sendsOut: ground.hosts.length > 0,
    requireSound,
    rank: (trustTiers) => trustTiers,
    refuse: async (source, signal) => (await judge(source, signal)).refuse,
    order: async (source, signal) => (await judge(source, signal)).order,
    async refuseRetrieval(soFar, signal) {
      requireSound();
      if (!refusesRetrieval) return undefined;
      const read = (answer: unknown, secrets: readonly string[]): string | undefined => {
        if (answer === null) return undefined;
        return reason(parse(refusal, answer).refuse, secrets);
      };
      return ask('refuseRetrieval', soFar, read, signal);
    },
  };
}

/** A log answers when a checkpoint covers the entry; some logs need several seconds. */
const withinMs = 120_000;
const maxHashes = 63;

/** Octets have become base64 on their way. */
const hash = where(
  text(4096, 0),
  'to be 32 octets or their base64 (44 characters)',
  (base64) => base64.length === 44 && Buffer.from(base64, 'base64').toString('base64') === base64,
  (found) => (/^[0-9a-f]{64}$/i.test(found) ? 'hexadecimal' : `${found.length} characters`),
);
const bytesOfHash = as(hash, (base64) => Buffer.from(base64, 'base64'));
const hashes = list(bytesOfHash, maxHashes);
const growth = object('a consistency proof', { hashes });
const proof = object('a proof', {
  logIndex: count(0),
  treeSize: count(1),
  rootHash: bytesOfHash,
  hashes,
  checkpoint: text(16_384),
});
const logSize = where(
  anything,
  '`size` to answer how many entries there are',
  (size) => Number.isSafeInteger(size) && Number(size) >= 0,
) as Schema<number>;

/**
 * A log that a plugin accesses. Only the form of its answers is checked; the caller that pins the log's key verifies
 * them.
 */
export function outsideLog(
  { module, consistency }: ManifestLog,
  { process, options, handed }: PartEnvironment,
): OutsideLog {
  const ask = async (call: string, args: readonly unknown[], more: object): Promise<unknown> => {
    const { secrets, files, masked } = await handed();
    const context = { options, secrets, files, ...more };
    const bounds = { idleMs: withinMs, withinMs, maxBytes };
    return process.ask({
      module,
      call,
      args: [...args, context],
      secrets: masked,
      ...bounds,
    });
  };
  return {
    async append(body, behind) {
      return parse(proof, await ask('append', [body], { behind }));
    },
    async size() {
      return parse(logSize, await ask('size', [], {}));
    },
    ...(consistency && {
      async consistency(from: number, to: number) {
        return parse(growth, await ask('consistency', [from, to], {}));
      },
    }),
  };
}

/** The user's secrets and files that a plugin receives, by name: those that are declared and exist. */
interface Handed {
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Texts that a plugin's error message must not contain: the secrets, and the lines of the files. */
  readonly masked: readonly string[];
}

/**
 * Reads the secrets and files that the manifest declares from the user's environment. Throws KEY_INSECURE for a file
 * that other users could change.
 */
export async function valuesFor(
  { secrets, files }: Pick<PluginNeeds, 'secrets' | 'files'>,
  access: Pick<PluginAccess, 'secret' | 'file'>,
): Promise<Handed> {
  const found = async (names: readonly string[], ask: PluginAccess['file']) => {
    const pairs: [string, string][] = [];
    for (const name of names) {
      const value = await ask?.(name);
      if (value !== undefined && value !== '') pairs.push([name, value]);
    }
    return Object.fromEntries(pairs);
  };
  const given = {
    secrets: await found(secrets, async (name) => (await access.secret?.(name))?.value),
    files: await found(files, access.file),
  };
  const lines = Object.values(given.files).flatMap(linesToMask);
  return { ...given, masked: [...new Set([...Object.values(given.secrets), ...lines])] };
}

/** A shorter line also occurs in text that is unrelated to the file. */
const leastOfLine = 8;

/** Returns the lines of a file to mask; the whole text if no line is long enough. */
function linesToMask(text: string): readonly string[] {
  const long = text
    .split(/[\r\n]+/)
    .flatMap((line) => (line.trim().length < leastOfLine ? [] : [line.trim()]));
  return long.length > 0 || text.trim() === '' ? long : [text.trim()];
}

/** A plugin's process, and what it may have. */
export interface PartEnvironment {
  readonly plugin: string;
  readonly process: PluginProcess;
  readonly hosts: readonly string[];
  /** `options` of its `[[plugins]]` entry. */
  readonly options: Readonly<Record<string, unknown>>;
  handed(): Promise<Handed>;
}
