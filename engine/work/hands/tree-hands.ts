import { isWritError } from '../../../core/base/errors.ts';
import { normalisePattern } from '../../../core/base/glob.ts';
import { quoted } from '../../../core/base/printable.ts';
import type { PrivacyPolicy } from '../../../core/interfaces/privacy.ts';
import type { HandAnswer, Hands, HandUse } from '../../../core/interfaces/worker.ts';
import { redactTexts } from '../../../readers/sensitive/redact.ts';
import type { WritEngine } from '../../../spec/writ-engine.ts';
import { askGit, type GitDirectory } from '../../../workspace/git/git.ts';
import { readBlob } from '../../../workspace/git/read-objects.ts';
import { listNames, listTree } from '../../../workspace/git/tree.ts';
import { type JudgedTool, openDoor } from '../tools/open-tools.ts';
import { readPart } from './read-part.ts';

/** A tree of commits as read-only input for tools: it cannot be written or executed. */
export interface TreeToRead {
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
type Judged = JudgedTool & { readonly looking: Looking; readonly path: string };

/** Opens tools that read a tree. Every guard runs first; text that the policy withholds is masked. */
export function openTreeHands(place: TreeToRead): Hands {
  const { engine, runId, policy, signal } = place;
  const mask = (text: string): string => redactTexts(text, policy);
  const door = openDoor({ engine, nowMs: () => engine.clock.now(), mask, signal }, bound);
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
