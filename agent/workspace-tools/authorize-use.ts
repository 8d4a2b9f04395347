/* Authorizes tool calls by rules, scope and path form, and reports files that a command wrote outside its paths. */
import { isWritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { HandAnswer, HandUse } from '../../core/interfaces/worker.ts';
import { scopeVerdict } from '../../spec/scope-verdict.ts';
import {
  type CommandVerdict,
  guardCommand,
  guardTool,
  shownPaths,
  type ToolInvocation,
} from '../../workspace/command-acl/acl.ts';
import { entryPathIn, realPathIn } from '../../workspace/command-acl/command-paths.ts';
import { isUnder, refusal } from '../../workspace/command-acl/constraints.ts';
import { type ChangedEntry, changedEntries } from '../../workspace/git/held-index.ts';
import type { TreeOfWorkspace } from '../../workspace/git/workspace.ts';
import { requirePatchPath } from '../../workspace/patch/patch-paths.ts';
import { checkEnvironment } from '../../workspace/process/find-program.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import type { AgentRun } from '../agent-run.ts';
import { codeTool } from '../language-servers/code-queries.ts';
import type { AuthorizedTool, ToolPlace } from '../tool-calls/tool-entry.ts';
import { authorizeVcs, type VcsQuestion } from '../version-control/parse-vcs.ts';

/** Reports files that a command wrote outside its allowed paths, as soon as it ends. */
export interface WriteWatch {
  /** Runs a command and appends the files that it wrote outside its allowed paths to its text. */
  around(acl: CommandVerdict, act: () => Promise<HandAnswer>): Promise<HandAnswer>;
  /** Files were changed by something else than a command. */
  forget(): void;
  /** What of a tree is as a command left it outside the `writeRoots` of the rules that allowed it. */
  strayedIn(tree: string): Promise<readonly string[]>;
}

const maxTold = 20;

/**
 * Watches a workspace that now contains `base`. Files that git ignores are not part of the change and are not
 * reported.
 */
export function watchWrites(
  { services: { scratch }, identity: { scope } }: Pick<AgentRun, 'services' | 'identity'>,
  base: string,
  kept: TreeOfWorkspace,
): WriteWatch {
  const isBounded = !scope.wholeRepository || scope.forbidden.length > 0;
  const strayed = new Map<string, string | undefined>();
  let known: string | undefined = base;
  const notes = (
    changed: readonly ChangedEntry[],
    { writeRoots = [] }: CommandVerdict,
  ): readonly string[] => {
    const outside = changed.filter(({ path }) => scopeVerdict(scope, path) !== 'in');
    const beyond = changed.filter(({ path }) => !writeRoots.every((roots) => isUnder(roots, path)));
    for (const { path, after } of beyond) strayed.set(path, after?.object);
    return [
      told(outside, 'outside the scope of the contract'),
      told(beyond, 'outside the `writeRoots` of the rule that allows the command'),
    ].flat();
  };
  return {
    async around(acl, act) {
      if (!isBounded && acl.writeRoots === undefined) {
        known = undefined;
        return act();
      }
      try {
        const before = known ?? (await kept.take());
        known = undefined;
        const answer = await act();
        known = await kept.take();
        const changed = before === known ? [] : await changedEntries(scratch, before, known);
        const text = [answer.text, ...notes(changed, acl)].filter((part) => part !== '').join('\n');
        return { ...answer, text };
      } catch (fault) {
        // The workspace can no longer be read as a tree; the attempt will fail with the same error.
        if (!isWritError(fault)) throw fault;
        known = undefined;
        return { outcome: 'failed', text: `failed: what was written cannot be taken: ${fault.message}` };
      }
    },
    forget() {
      known = undefined;
    },
    async strayedIn(tree) {
      if (strayed.size === 0) return [];
      const changed = await changedEntries(scratch, base, tree);
      return changed
        .filter(({ path, after }) => strayed.has(path) && strayed.get(path) === after?.object)
        .map(({ path }) => path);
    },
  };
}

function told(entries: readonly ChangedEntry[], where: string): readonly string[] {
  if (entries.length === 0) return [];
  const named = entries.slice(0, maxTold).map(({ path, before, after }) => {
    const was = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
    return `${quoted(path)} (${was})`;
  });
  const more = entries.length > named.length ? ` and ${entries.length - named.length} more` : '';
  return [`[written ${where}: ${named.join(', ')}${more}. Undo it: a change that holds it is refused]`];
}

/** A tool call with the verdict of rules, scope and path form. */
export interface AuthorizedUse extends AuthorizedTool {
  /** Where its path leads, relative to the workspace. */
  readonly real: string;
  /** Of a directory that is listed or searched, and of code: what may be shown, by real paths. */
  readonly shows?: (real: string) => boolean;
  /** Of a command. */
  readonly acl?: CommandVerdict;
  /** Of version control. */
  readonly question?: VcsQuestion;
}

const withheld = {
  isWithheld: isVersionControl,
  instead: 'the content of the files is the change, and only writ commits it',
};

/** A use that names one place in the workspace. */
type PlacedUse = Exclude<HandUse, { readonly kind: 'execute' | 'background' | 'command' | 'vcs' }>;

/** Tool and action for each kind of tool call, as `security.toolAcl` names them; code calls name their action. */
const names = {
  read: ['workspace.fs', 'read'],
  list: ['workspace.fs', 'read'],
  search: ['workspace.search', 'search'],
  write: ['workspace.fs', 'write'],
  delete: ['workspace.fs', 'delete'],
  execute: ['workspace.command', 'execute'],
  background: ['workspace.command', 'execute'],
} as const;

/** Applies the rules first, then the scope. If they refuse a tool call, no guard runs and no person is prompted. */
export function authorizeUse(run: AgentRun, place: ToolPlace, use: HandUse): AuthorizedUse {
  if (use.kind === 'vcs') return authorizeVcs(run, place, use);
  const { runId, contract, scope } = run.identity;
  // The rule that allowed a command also allows to see its output and to stop it.
  if (use.kind === 'command')
    return {
      request: { runId, tool: 'workspace.command', action: use.action },
      given: { ...use },
      real: '.',
    };
  const [tool, action] = use.kind === 'code' ? [codeTool, use.action] : names[use.kind];
  const { toolAcl } = contract.effective.security;
  const named = { runId, tool, action };
  const given = { ...use };
  if (use.kind === 'execute' || use.kind === 'background') {
    const request = { ...named, command: use.command };
    const variables = Object.keys(toolEnvironment(run, place));
    const acl = guardCommand(toolAcl, use.command, { variables, withheld });
    return { request, given, real: '.', acl, ...(acl.refusal === undefined ? {} : { refusal: acl.refusal }) };
  }
  const request = { ...named, paths: [use.path] };
  const invocation: ToolInvocation = {
    tool,
    action,
    workspace: place.workspace,
    paths: [use.path],
    ...(use.kind === 'search' ? { text: [use.pattern] } : {}),
    ...(use.kind === 'code' ? { text: [use.symbol ?? '', use.newName ?? ''] } : {}),
    ...(use.kind === 'write' ? { writeBytes: use.bytes.length } : {}),
    ...(use.kind === 'delete' ? { writeBytes: 0 } : {}),
  };
  const resolve = use.kind === 'delete' ? entryPathIn : realPathIn;
  const real = resolve(place.workspace, use.path);
  const { refusal: why, maxResultBytes } = guardTool(toolAcl, invocation);
  const shows = isShowing(use) ? shownPaths(toolAcl, tool, action) : undefined;
  const refused = why ?? placeRefusal(use, real, scope) ?? hiddenRefusal(use, real, shows);
  return {
    request,
    given,
    real: real ?? '',
    ...(refused === undefined ? {} : { refusal: refused }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    ...(shows === undefined ? {} : { shows }),
  };
}

function isShowing({ kind }: HandUse): boolean {
  return kind === 'list' || kind === 'search' || kind === 'code';
}

function hiddenRefusal(
  { path }: PlacedUse,
  real = '.',
  shows?: (real: string) => boolean,
): Finding | undefined {
  if (shows === undefined || shows(real)) return undefined;
  return refused(path, 'may not be read by the rules of the contract');
}

function placeRefusal(
  use: PlacedUse,
  real: string | undefined,
  scope: AgentRun['identity']['scope'],
): Finding | undefined {
  if (real === undefined) return refused(use.path, 'leads out of the workspace');
  const isWriting = use.kind === 'write' || use.kind === 'delete';
  if (real === '.') return isWriting ? refused(use.path, 'is a directory') : undefined;
  try {
    requirePatchPath(real);
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return refused(use.path, fault.message);
  }
  if (!isWriting) return undefined;
  const verdict = scopeVerdict(scope, real);
  if (verdict === 'in') return undefined;
  if (verdict === 'forbidden') return refused(use.path, `is out of scope by the contract; ${leaveIt}`);
  const { write } = scope;
  const places = write.slice(0, maxPlacesTold).map(quoted);
  const more = write.length > places.length ? ` and ${write.length - places.length} more` : '';
  return refused(
    use.path,
    `is not in the scope of the contract, which is ${places.join(', ')}${more}; ${leaveIt}`,
  );
}

const maxPlacesTold = 10;
const leaveIt = 'leave it as it is, or end the task and say why it has to change';

function refused(path: string, why: string): Finding {
  return refusal(`${quoted(path)} ${why}`, { reason: 'place', path });
}

/**
 * OS error texts for operations that the sandbox blocks: read-only mounts, no network, system calls that the filter
 * refuses. `EACCES` is not among them: paths hidden by the sandbox do not exist inside it, and file modes are not the
 * sandbox.
 */
const signs: readonly (readonly [RegExp, string])[] = [
  [/read-only file system|\bEROFS\b/i, 'to write outside the workspace'],
  [
    /network is unreachable|could not resolve host|temporary failure in name resolution|name or service not known|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b/i,
    'to reach the network',
  ],
  [/operation not permitted|\bEPERM\b/i, 'a call of the system'],
];

/** Lines are looked at to this length. */
const maxText = 256 * 1024;

/**
 * Returns what the sandbox blocked in a failed command; `undefined` without a sign of it. The proxy's record comes
 * first, because it is reliable. Output is controlled by the program. If it is false, a person is prompted once more,
 * or the command runs again in the same sandbox.
 */
export function heldBack(output: string, network: CheckNetwork | undefined): string | undefined {
  const refused = network?.uses.find(({ outcome }) => outcome === 'refused');
  if (refused !== undefined) return `to reach ${refused.host.slice(0, 253)}`;
  const text = output.slice(-maxText);
  return signs.find(([sign]) => sign.test(text))?.[1];
}

/** The environment of a worker's commands: that of a check before a patch exists. */
export function toolEnvironment(
  { identity: { contract, runId }, environment }: Pick<AgentRun, 'identity' | 'environment'>,
  { workspace, reports }: ToolPlace,
): Record<string, string> {
  const inside = environment.sandbox.pathsInside({ workspace, reports });
  return checkEnvironment({
    intentSpecId: contract.effective.metadata.id,
    intentSpecDigest: contract.digest,
    runId,
    workspace: inside.workspace,
    baseSha: environment.base.commit ?? '',
    patchSetDigest: '',
    reportsDir: inside.reports,
  });
}
