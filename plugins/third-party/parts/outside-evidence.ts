import { isWritError, messageOf } from '../../../core/base/errors.ts';
import { isCount, parseCount, parseList, parseText, toFields } from '../../../core/base/json-pointer.ts';
import { printable } from '../../../core/base/printable.ts';
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
        const fields = toFields(answer, 'nothing, or an object with `refuse`', ['refuse']);
        return reason(parseText(fields, 'refuse', maxReason), secrets);
      };
      return ask('refuseRetrieval', soFar, read, signal);
    },
  };
}

/** A log answers when a checkpoint covers the entry; some logs need several seconds. */
const withinMs = 120_000;
const maxHashes = 63;

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
      const known = ['logIndex', 'treeSize', 'rootHash', 'hashes', 'checkpoint'];
      const fields = toFields(await ask('append', [body], { behind }), 'a proof', known);
      return {
        logIndex: parseCount(fields, 'logIndex', 0),
        treeSize: parseCount(fields, 'treeSize', 1),
        rootHash: toHash('rootHash', fields.rootHash),
        hashes: parseList(fields.hashes, (hash) => toHash('hashes', hash), maxHashes),
        checkpoint: parseText(fields, 'checkpoint', 16_384),
      };
    },
    async size() {
      const size = await ask('size', [], {});
      if (!isCount(size, 0)) throw new TypeError('expected `size` to answer how many entries there are');
      return size;
    },
    ...(consistency && {
      async consistency(from: number, to: number) {
        const answer = await ask('consistency', [from, to], {});
        const { hashes } = toFields(answer, 'a consistency proof', ['hashes']);
        return { hashes: parseList(hashes, (hash) => toHash('hashes', hash), maxHashes) };
      },
    }),
  };
}

/** Octets have become base64 on their way. */
function toHash(field: string, value: unknown): Buffer {
  const text = parseText({ [field]: value }, field, 4096, 0);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 32 && bytes.toString('base64') === text) return bytes;
  const found = /^[0-9a-f]{64}$/i.test(text) ? 'hexadecimal' : `${text.length} characters`;
  throw new TypeError(`expected \`${field}\` as 32 octets or their base64 (44 characters), got ${found}`);
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
