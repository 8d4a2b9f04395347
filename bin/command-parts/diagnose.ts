/* Finds what writ has to say about the text of one document in an editor: findings of rules, and faults of specs. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { toFault } from '../../api/envelope.ts';
import { isShortSpec, maxSpecBytes } from '../../api/intent/read-spec.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { Issue, Severity } from '../../core/interfaces/finding.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import { parseConfig, type WritConfig } from '../../engine/config/config.ts';
import { parseWaivers, waiversPath } from '../../engine/config/waivers.ts';
import { ownersPath, parseOwners } from '../../readers/diff/owned-paths.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findOffsets } from '../../spec/read-intent-spec.ts';
import { isIgnoredPath } from '../../workspace/git/dirty-paths.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import { scanSource } from '../commands/scan.ts';
import { validateFully } from '../commands/spec-validate.ts';
import type { CommandContext } from './command.ts';
import { fromDocument, repositoryAround } from './scan-sources.ts';

/** One problem of a document. `from` and `to` are UTF-16 offsets into its text. */
export interface Problem {
  readonly severity: Severity;
  /** Id of the rule, or code of the fault. */
  readonly code: string;
  readonly message: string;
  readonly from: number;
  readonly to: number;
}

/** A document as the editor has it. */
export interface EditedText {
  readonly path: string;
  readonly text: string;
}

type Unplaced = Pick<Problem, 'severity' | 'code' | 'message'>;

/**
 * Finds the problems of a document that is inside of one of the folders; of any, where there are none. Never throws
 * for a document: what keeps writ from looking at it is a problem of it.
 */
export async function findProblems(
  context: CommandContext,
  engine: WritEngine,
  { path, text }: EditedText,
  folders: readonly string[],
  onRepository: (repository: Repository) => void,
): Promise<readonly Problem[]> {
  const real = realPath(path);
  if (folders.length > 0 && !folders.some((folder) => isInside(folder, real))) return [];
  const own: CommandContext = {
    ...context,
    cwd: directoryOf(real),
    args: [],
    options: { value: () => undefined, values: () => [], flag: () => false },
    stdin: Readable.from([Buffer.from(text)]),
  };
  const parts: readonly (() => Promise<readonly Problem[]>)[] = [
    async () => (isSpec(text) ? specProblems(text, (await validateFully(own, '-')).issues) : []),
    async () => {
      const repository = await repositoryAround(own);
      if (repository === undefined) return [];
      onRepository(repository);
      const name = relative(repository.root, real).split(sep).join('/');
      return [
        ...governingProblems(name, { text, root: repository.root, rules: engine.rules }),
        ...(await scanProblems(own, engine, repository, { path: name, text })),
      ];
    },
  ];
  const problems: Problem[] = [];
  for (const part of parts) {
    try {
      problems.push(...(await part()));
    } catch (thrown) {
      context.signal.throwIfAborted();
      const { code, message } = toFault(thrown);
      problems.push(inLine(text, 1, 1, { severity: 'warning', code, message }));
    }
  }
  return problems;
}

/** Without symlinks, as far as the path exists. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const above = dirname(path);
  return above === path ? path : join(realPath(above), basename(path));
}

/** The nearest directory that exists. */
function directoryOf(path: string): string {
  const above = dirname(path);
  return existsSync(above) || above === path ? above : directoryOf(above);
}

async function scanProblems(
  context: CommandContext,
  engine: WritEngine,
  repository: Repository,
  { path, text }: EditedText,
): Promise<readonly Problem[]> {
  if (await isIgnoredPath(repository, path)) return [];
  try {
    const { findings } = await scanSource(context, engine, repository, () =>
      fromDocument(repository, path, text),
    );
    return findings.map(({ rule, severity, message, line = 1, column = 1 }) =>
      inLine(text, line, column, { severity, code: rule, message }),
    );
  } catch (fault) {
    // Nothing was changed, or it is state of writ.
    if (isWritError(fault, 'PATCH_EMPTY') || isWritError(fault, 'PATCH_TOUCHES_STATE')) return [];
    throw fault;
  }
}

/** From a column of a line to its end. Both count from 1, as in findings: only a line feed ends a line. */
function inLine(text: string, line: number, column: number, what: Unplaced): Problem {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf('\n', start) + 1;
    if (next === 0) break;
    start = next;
  }
  return toLineEnd(text, start + column - 1, what);
}

function toLineEnd(text: string, from: number, what: Unplaced): Problem {
  const end = text.indexOf('\n', from);
  const rest = text.slice(from, end < 0 ? undefined : end).trimEnd();
  return { ...what, from, to: from + rest.length };
}

const kindOfSpec = /"kind"\s{0,100}:\s{0,100}"IntentSpec"/;

/** Whether a document is to be a spec: by its kind even where it is no JSON yet; a short one by its members. */
function isSpec(text: string): boolean {
  if (text.length > maxSpecBytes) return false;
  if (kindOfSpec.test(text)) return true;
  if (!text.trimStart().startsWith('{') || !isShortSpec(Buffer.from(text))) return false;
  const { intent, risk } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return isRecord(intent) && ('summary' in intent || risk !== undefined);
}

function specProblems(text: string, issues: readonly Issue[]): readonly Problem[] {
  const isJson = issues.every(({ code }) => code !== 'INTENTSPEC_MALFORMED');
  const offsetOf = isJson ? findOffsets(issues, text) : undefined;
  return issues.map(({ path, code, message, severity }) => {
    const what = { severity, code, message };
    if (offsetOf === undefined) return atPlaceIn(text, message, what);
    const from = offsetOf(path);
    const key = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(from, from + maxKey))?.[0];
    return key === undefined ? toLineEnd(text, from, what) : { ...what, from, to: from + key.length };
  });
}

const maxKey = 1000;

/** The readers of JSON, TOML and owners say in words where the fault is. */
function atPlaceIn(text: string, words: string, what: Unplaced): Problem {
  const [, line = '1', column = '1'] = /\bline (\d+)(?:, column (\d+))?/.exec(words) ?? [];
  return inLine(text, Number(line), Number(column), what);
}

interface GoverningFile {
  readonly text: string;
  readonly root: string;
  readonly rules: Rules;
}

const configPath = '.writ/config.toml';

/** Faults of the files that govern changes, as they would be at a policy commit. */
function governingProblems(path: string, { text, root, rules }: GoverningFile): readonly Problem[] {
  const bytes = Buffer.from(text);
  const config = (): WritConfig | undefined => {
    try {
      return parseConfig(readPlain(join(root, configPath), maxSpecBytes).bytes, sealingForms);
    } catch (fault) {
      // Reported for that file.
      if (isWritError(fault, 'CONFIG_INVALID')) return undefined;
      throw fault;
    }
  };
  try {
    if (path === configPath && parseConfig(bytes, sealingForms).plugins.length === 0)
      parseConfig(bytes, { ...sealingForms, ruleIds: rules.ids });
    if (path === waiversPath)
      parseWaivers(bytes, { ids: rules.ids, get: rules.get, isWhole: config()?.plugins.length === 0 });
    if (path === ownersPath) {
      const groups = config()?.approvals.groups;
      if (groups !== undefined) parseOwners(bytes, groups);
    }
    return [];
  } catch (fault) {
    if (!isWritError(fault, 'CONFIG_INVALID')) throw fault;
    return issuesOf(fault).map(({ path: at, message }) => {
      const what = {
        severity: 'error',
        code: fault.code,
        message: at === '' ? message : `${at}: ${message}`,
      } as const;
      const line = lineOfKey(text, at);
      return line === undefined ? atPlaceIn(text, what.message, what) : inLine(text, line, 1, what);
    });
  }
}

function issuesOf({
  detail,
  message,
}: WritError): readonly { readonly path: string; readonly message: string }[] {
  const { issues } = detail;
  if (!Array.isArray(issues)) return [{ path: '', message }];
  return issues as readonly { readonly path: string; readonly message: string }[];
}

/** The line of a TOML key such as `approvals.groups.team`, or of its table; `waiver[1]` is the second `[[waiver]]`. */
function lineOfKey(text: string, path: string): number | undefined {
  const seen = new Map<string, number>();
  let table = '';
  let found: number | undefined;
  let length = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const [, brackets, header] = /^\s*(\[\[?)\s*([\w.-]+)\s*\]/.exec(line) ?? [];
    if (header !== undefined) {
      const count = seen.get(header) ?? 0;
      seen.set(header, count + 1);
      table = brackets === '[[' ? `${header}[${count}]` : header;
    }
    const key = header === undefined ? /^\s*([\w.-]+)\s*=/.exec(line)?.[1] : undefined;
    const here =
      key === undefined ? (header === undefined ? '' : table) : table === '' ? key : `${table}.${key}`;
    if (here.length > length && (path === here || path.startsWith(`${here}.`) || path.startsWith(`${here}[`)))
      [found, length] = [index + 1, here.length];
  }
  return found;
}
