/* Artifact producers and stage checks that run in a plugin's process. */
import { isUtf8 } from 'node:buffer';
import { isWritError, messageOf } from '../../../core/base/errors.ts';
import { compileGlob } from '../../../core/base/glob.ts';
import { printable } from '../../../core/base/printable.ts';
import { anything, list, mapOf, object, parse, type TypeOf, text, where } from '../../../core/base/schema.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { ArtifactProducer, ArtifactRequest, Produced } from '../../../core/interfaces/artifact.ts';
import type { StageCheck } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import { parseFindings } from '../../../core/kernel/answer.ts';
import type { ManifestArtifact, ManifestStageCheck } from '../manifest-parts.ts';
import { pluginFault, withoutHanded } from '../process/plugin-fault.ts';
import type { PartEnvironment } from './outside-evidence.ts';

/** A producer that a plugin brings. */
export interface ThirdPartyArtifact extends ArtifactProducer {
  readonly plugin: string;
  /** It connects to hosts, so data that the spec withholds is removed from its input. */
  readonly sendsOut: boolean;
}

/** Octets of what is made, and of the files that it may be made from. */
const maxArtifactBytes = 8 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;
const maxFiles = 5000;
/** Limit of the raw answer: base64 and escapes are longer than the decoded content. */
const maxAnswerBytes = 16 * 1024 * 1024;
const made = where(
  object(
    'an object with one of `text`, `bytes`, `json` and `unmade`',
    {},
    {
      text: where(text(maxArtifactBytes), '`text` that is well-formed', (found) => found.isWellFormed()),
      bytes: where(
        text(maxAnswerBytes),
        '`bytes` as octets or base64',
        (base64) => Buffer.from(base64, 'base64').toString('base64') === base64,
      ),
      json: anything,
      unmade: text(1000),
    },
  ),
  'one of `text`, `bytes`, `json` and `unmade`',
  (fields) => Object.keys(fields).length === 1,
);

/**
 * A producer in its plugin's process. If it gives no artifact of the declared form, the result is a reason with the
 * plugin's name. The gate that expects the artifact reports it.
 */
export function thirdPartyArtifact(part: ManifestArtifact, ground: PartEnvironment): ThirdPartyArtifact {
  const { contentType, extension } = part;
  return {
    plugin: ground.plugin,
    sendsOut: ground.hosts.length > 0,
    contentType,
    extension,
    async produce(request) {
      try {
        return await make(part, ground, request);
      } catch (fault) {
        request.signal?.throwIfAborted();
        if (isWritError(fault, 'PLUGIN_PROCESS_FAULT')) return { unmade: fault.message };
        if (isWritError(fault)) throw fault;
        return { unmade: `plugin \`${ground.plugin}\`: ${printable(messageOf(fault).slice(0, 1000))}` };
      }
    },
  };
}

async function make(
  { module, contentType, reads, timeoutSeconds }: ManifestArtifact,
  { process, options, handed }: PartEnvironment,
  request: ArtifactRequest,
): Promise<Produced> {
  const { secrets, files, masked } = await handed();
  const { name, spec, patch, stages, baseTimeMs, engineVersion, signal } = request;
  const format = spec.artifacts.required.find((entry) => (entry.name as string) === name)?.format ?? '';
  const order = { name, format, spec, patch, stages, baseTimeMs, engineVersion };
  const answer = await process.ask(
    {
      module,
      call: 'produce',
      args: [
        { ...order, files: await filesOf(request, reads) },
        { options, secrets, files },
      ],
      secrets: masked,
      idleMs: timeoutSeconds * 1000,
      withinMs: timeoutSeconds * 1000,
      maxBytes: maxAnswerBytes,
    },
    signal,
  );
  const fields = parse(made, answer);
  if (fields.unmade === undefined) return bytesOf(fields, contentType);
  throw new TypeError(withoutHanded(fields.unmade, masked));
}

/** Content of the candidate's files that it declared to read. */
async function filesOf(
  { listCandidate, readCandidate }: ArtifactRequest,
  reads: readonly string[],
): Promise<Readonly<Record<string, Uint8Array>>> {
  if (reads.length === 0) return {};
  const globs = reads.map((pattern) => compileGlob(pattern));
  const paths = (await listCandidate()).filter((path) => globs.some((glob) => glob.matches(path)));
  if (paths.length > maxFiles)
    throw new RangeError(`its \`reads\` match ${paths.length} files, expected at most ${maxFiles}`);
  const found: [string, Uint8Array][] = [];
  let total = 0;
  for (const path of paths) {
    const bytes = await readCandidate(path);
    if (bytes === undefined) continue;
    total += bytes.byteLength;
    if (total > maxFileBytes)
      throw new RangeError(`the files of its \`reads\` hold more than ${maxFileBytes} bytes`);
    found.push([path, bytes]);
  }
  return Object.fromEntries(found);
}

/** What was made, held to the media type that the manifest declares. */
function bytesOf(fields: TypeOf<typeof made>, contentType: string): Uint8Array {
  const bytes = rawOf(fields);
  if (bytes.length === 0 || bytes.length > maxArtifactBytes)
    throw new RangeError(`expected 1 to ${maxArtifactBytes} bytes, got ${bytes.length}`);
  const isJson = /^application\/(?:[a-z0-9.-]+\+)?json(?:;|$)/.test(contentType);
  if (isJson) requireJson(bytes);
  else if (contentType.startsWith('text/') && !isUtf8(bytes))
    throw new TypeError(`expected \`${contentType}\` in UTF-8`);
  return bytes;
}

function requireJson(bytes: Uint8Array): void {
  try {
    parseStrictJson(bytes, { code: 'PLUGIN_PROCESS_FAULT', maxBytes: maxArtifactBytes });
  } catch (cause) {
    throw new TypeError(`expected JSON: ${messageOf(cause)}`, { cause });
  }
}

function rawOf({ json, text, bytes = '' }: TypeOf<typeof made>): Buffer {
  if (json !== undefined) return Buffer.from(`${JSON.stringify(json, null, 2)}\n`);
  return text === undefined ? Buffer.from(bytes, 'base64') : Buffer.from(text);
}

const maxStageAnswerBytes = 4 * 1024 * 1024;
const findings = list(mapOf('a finding', anything), 1000);

/** A check of the gate stages that a plugin brings: its answer in its form, under its own name. */
export function outsideStageCheck(
  { name, module, stages, readsDiff, timeoutSeconds }: ManifestStageCheck,
  { plugin, process, options, handed }: PartEnvironment,
): StageCheck {
  const ms = timeoutSeconds * 1000;
  return {
    name,
    plugin,
    stages,
    readsDiff,
    async judge(input, signal) {
      const { secrets, files, masked } = await handed();
      const args = [input, { options, secrets, files }];
      const bounds = { idleMs: ms, withinMs: ms, maxBytes: maxStageAnswerBytes };
      const call = { module, call: 'judge', args, secrets: masked, ...bounds };
      const answer = await process.ask(call, signal);
      try {
        return toFindings(name, answer);
      } catch (fault) {
        throw pluginFault(plugin, 'garbage', messageOf(fault));
      }
    },
  };
}

/** Throws if the answer is not a list of findings, or if a finding has another rule's name. */
function toFindings(name: string, answer: unknown): readonly Finding[] {
  const named = parse(findings, answer).map((one) => ({ rule: name, ...one }));
  const foreign = named.find(({ rule }) => rule !== name);
  if (foreign !== undefined)
    throw new TypeError(`expected findings of \`${name}\`, got one in the name of another`);
  return parseFindings(named);
}
