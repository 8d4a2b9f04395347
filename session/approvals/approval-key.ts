import path from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { commandsOf, wordsOf } from '../../workspace/shell/shell.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

/**
 * What a use is, exactly: words of one plain command, or text as it stands. Absent: not known to the last character.
 */
type UseSubject =
  | { readonly form: 'argv'; readonly words: readonly string[] }
  | { readonly form: 'text'; readonly text: string };

/**
 * The argv of a text that is one simple command in literal words; any other text is itself, to the last blank. Of a
 * tool that is no command: its words, its paths, its query.
 */
export function subjectOf(use: Pick<ToolUse, 'request' | 'argv'>): UseSubject | undefined {
  const { command, paths, query } = use.request;
  if (isCommand(use)) return command === undefined ? undefined : subjectOfText(command);
  if (use.argv !== undefined) return { form: 'argv', words: use.argv };
  // Beside its words a request of version control holds them cut; of the web what may be kept of them.
  if (use.request.tool === 'vcs' || command !== undefined) return undefined;
  if (query !== undefined) {
    const isWhole = query.length < longestWholeQuery && !query.includes('[redacted:');
    return isWhole ? { form: 'text', text: query } : undefined;
  }
  return paths === undefined || paths.length === 0 ? undefined : { form: 'argv', words: paths };
}

/** A request holds at most so many characters of what is asked of the web. */
const longestWholeQuery = 500;

/** Words of a text that is one simple command, all of them literal, with nothing around it. */
export function plainArgv(text: string): readonly string[] | undefined {
  const reading = commandsOf(text);
  // One command: a line break between two would else pass for a blank.
  if (!reading.ok || reading.commands.length !== 1 || reading.redirects.length > 0) return undefined;
  return reading.commands[0]?.assignments.length === 0 ? wordsOf(text) : undefined;
}

function subjectOfText(text: string): UseSubject {
  const words = plainArgv(text);
  return words === undefined ? { form: 'text', text } : { form: 'argv', words };
}

const keyDomain = 'urn:writ:approval-key:v1';
const subjectDomain = 'urn:writ:approval-subject:v1';
const sandboxDomain = 'urn:writ:sandbox-policy:v1';

/**
 * What an approval is of (resolutions, Approval key): exact argv or text, real working directory, sandbox policy,
 * branch; nothing is sorted, nothing made alike. `undefined` where what is to be done is not known exactly: nothing
 * reaches such a use but an answer to itself.
 */
export function approvalKey(use: ToolUse): string | undefined {
  const subject = subjectDigest(use);
  if (!path.isAbsolute(use.cwd) || path.normalize(use.cwd) !== use.cwd || /.[/\\]$/.test(use.cwd))
    throw new WritError('INTERNAL', { message: 'expected a real path as the working directory of a use' });
  return subject && digest(keyDomain, [subject, use.cwd, use.sandbox, use.branch]);
}

/** The same without where and in which sandbox: what is to be done, exactly. */
export function subjectDigest(use: Pick<ToolUse, 'request' | 'argv'>): string | undefined {
  const subject = subjectOf(use);
  if (subject === undefined) return undefined;
  const exact = subject.form === 'argv' ? subject.words : [subject.text];
  return digest(subjectDomain, [use.request.tool, use.request.action, subject.form, ...exact]);
}

/** What confines a command, as far as it decides what the command may do. */
export interface SandboxPolicy {
  /** Name of the back end; `none` where nothing confines. */
  readonly backend: string;
  readonly network: 'deny' | 'allow';
  /** Hosts that are opened. */
  readonly hosts: readonly string[];
  /** Absolute places that may be written. */
  readonly writes: readonly string[];
}

/** The digest of a sandbox policy: any difference is another one, another order included. */
export function sandboxDigest({ backend, network, hosts, writes }: SandboxPolicy): string {
  return digest(sandboxDomain, [backend, network, `${hosts.length}`, ...hosts, ...writes]);
}

/**
 * Strings in an array: their JSON is canonical (RFC 8785), and tells lone surrogates apart, which that one refuses.
 */
function digest(domain: string, parts: readonly string[]): string {
  return sha256Hex(JSON.stringify([domain, ...parts]));
}
