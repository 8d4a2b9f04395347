/* Tools that read a tree. */
import { isWritError } from '../../core/base/errors.ts';
import { normalisePattern } from '../../core/base/glob.ts';
import { quoted } from '../../core/base/printable.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { HandAnswer, Hands, HandUse } from '../../core/interfaces/worker.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { askGit, type GitDirectory } from '../../workspace/git/git.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { listNames, listTree } from '../../workspace/git/tree.ts';
import { type AuthorizedTool, openToolEntry } from '../tool-calls/tool-entry.ts';

/** A tree of commits as read-only input for tools: it cannot be written or executed. */
interface TreeToRead {
  readonly engine: Pick<WritEngine, 'hooks' | 'clock'>;
  readonly repository: GitDirectory;
  readonly tree: string;
  readonly runId: string;
  /** What a model may not read. */
  readonly policy: PrivacyPolicy;
  readonly signal: AbortSignal;
}

const maxUses = 500;
const bound = { most: maxUses, told: `a draft may use its tools ${maxUses} times` };
const maxFileBytes = 8 * 1024 * 1024;
const maxNames = 2000;
const maxFoundBytes = 64 * 1024;
const maxSearchBytes = 16 * 1024 * 1024;

const toolOf = {
  read: ['workspace.fs', 'read'],
  list: ['workspace.fs', 'read'],
  search: ['workspace.search', 'search'],
} as const;

type Looking = Extract<HandUse, { readonly kind: keyof typeof toolOf }>;
type Judged = AuthorizedTool & { readonly looking: Looking; readonly path: string };

/** Opens tools that read a tree. Every guard runs first; text that the policy withholds is masked. */
export function openTreeTools(place: TreeToRead): Hands {
  const { engine, runId, policy, signal } = place;
  const mask = (text: string): string => redactTexts(text, policy);
  const door = openToolEntry({ engine, nowMs: () => engine.clock.now(), mask, signal }, bound);
  const judge = (use: HandUse): Judged | string => {
    if (use.kind !== 'read' && use.kind !== 'list' && use.kind !== 'search')
      return 'a drafting model only reads';
    const path = inTree(use.path);
    if (path === undefined) return `${quoted(use.path)} is no place in the repository`;
    const [tool, action] = toolOf[use.kind];
    const request = { runId, tool, action, paths: [use.path] };
    return { request, given: { ...use }, looking: use, path };
  };
  return {
    use: (use) =>
      door.use(
        () => judge(use),
        ({ looking, path }) => act(place, looking, path, mask),
      ),
  };
}

async function act(
  place: TreeToRead,
  use: Looking,
  path: string,
  mask: (text: string) => string,
): Promise<HandAnswer> {
  try {
    if (use.kind === 'read') return await read(place, path, use, mask);
    if (use.kind === 'list') return await list(place, path);
    return await search(place, path, use.pattern);
  } catch (fault) {
    place.signal.throwIfAborted();
    if (!isWritError(fault)) throw fault;
    return { outcome: 'failed', text: `failed: ${fault.code}` };
  }
}

async function read(
  { repository, tree }: TreeToRead,
  path: string,
  part: Parameters<typeof readPart>[1],
  mask: (text: string) => string,
): Promise<HandAnswer> {
  const bytes = await readBlob(repository, tree, path, maxFileBytes);
  if (bytes === undefined) return { outcome: 'failed', text: 'failed: there is no such file' };
  return readPart(bytes, part, mask);
}

async function list({ repository, tree }: TreeToRead, path: string): Promise<HandAnswer> {
  const names = await listNames(repository, tree, path);
  const below = path === '' ? '' : `${path}/`;
  const entries = await listTree(repository, tree, path);
  const files = new Set(entries.map((entry) => entry.path));
  const shown = [...names].map((name) => (files.has(below + name) ? name : `${name}/`));
  if (shown.length === 0) return { outcome: 'failed', text: 'failed: there is no such directory' };
  const cut = shown.length > maxNames ? `\n[cut at ${maxNames} names]` : '';
  return { outcome: 'done', text: shown.slice(0, maxNames).join('\n') + cut };
}

async function search(
  { repository, tree, signal }: TreeToRead,
  path: string,
  pattern: string,
): Promise<HandAnswer> {
  const within = path === '' ? [] : [path];
  const args = ['grep', '-nIE', '--no-color', '--no-textconv', '-e', pattern, tree, '--', ...within];
  const { code, stdout } = await askGit(repository, args, { maxBytes: maxSearchBytes, signal });
  if (code === 1) return { outcome: 'done', text: '' };
  if (code !== 0) return { outcome: 'failed', text: 'failed: no such expression' };
  const lines = stdout.toString('utf8').replaceAll(`${tree}:`, '');
  const cut = lines.length > maxFoundBytes ? `\n[cut: ${stdout.length} bytes in all]` : '';
  return { outcome: 'done', text: lines.slice(0, maxFoundBytes) + cut };
}

/** A path of a tree; '' is its top. */
function inTree(path: string): string | undefined {
  const bare = path.trim().replace(/^(?:\.\/+)+/u, '');
  if (bare === '.' || bare === '') return '';
  return normalisePattern(bare)?.replace(/\/$/u, '');
}

const maxAnswerBytes = 256 * 1024;
const maxLines = 2000;

/** The lines of a file that a model wants to read, with their numbers; a binary file fails. */
export function readPart(
  bytes: Buffer,
  { fromLine, lines }: Pick<Extract<HandUse, { readonly kind: 'read' }>, 'fromLine' | 'lines'>,
  mask: (text: string) => string,
): HandAnswer {
  if (bytes.includes(0)) return { outcome: 'failed', text: `failed: binary, ${bytes.length} bytes` };
  const range = {
    from: Math.max(1, fromLine ?? 1),
    lines: Math.max(1, Math.min(lines ?? maxLines, maxLines)),
    maxBytes: maxAnswerBytes,
  };
  // The whole text is masked: a secret may span several lines.
  const text = bytes.length === 0 ? '' : numberedLines(mask(bytes.toString('utf8')), range);
  return { outcome: 'done', text };
}

/** A range of lines, and the maximum number of bytes in an answer. */
interface LineRange {
  /** From 1. */
  readonly from: number;
  readonly lines: number;
  readonly maxBytes: number;
}

/**
 * Returns numbered lines of a text, and a line on how to continue if there are more. The first line is always
 * included, truncated if it alone is too long.
 */
export function numberedLines(text: string, { from, lines, maxBytes }: LineRange): string {
  const all = text.split('\n');
  // What ends with a line break has no further line.
  if (all.length > 1 && all.at(-1) === '') all.pop();
  const shown: string[] = [];
  let left = maxBytes;
  let cut = '';
  for (const line of all.slice(from - 1, from - 1 + lines)) {
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > left && shown.length > 0) break;
    const number = from + shown.length;
    if (bytes > left)
      cut = `\n[line ${number} is cut: ${maxBytes} of ${bytes} bytes; take parts of it with a command]`;
    shown.push(`${number}\t${bytes > left ? Buffer.from(line).subarray(0, left).toString('utf8') : line}`);
    left -= bytes;
  }
  if (shown.length === 0) return `[there is no line ${from}: the file has ${all.length}]`;
  const last = from - 1 + shown.length;
  const more =
    last < all.length ? `\n[lines ${from} to ${last} of ${all.length}: go on from line ${last + 1}]` : '';
  return shown.join('\n') + cut + more;
}
