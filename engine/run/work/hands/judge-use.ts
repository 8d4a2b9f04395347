import { isWritError } from '../../../../core/base/errors.ts';
import { quoted } from '../../../../core/base/quoted.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import type { ToolRequest } from '../../../../core/contract/hook-payload.ts';
import { scopeVerdict } from '../../../../core/contract/scope-verdict.ts';
import { requirePatchPath } from '../../../patch/patch-paths.ts';
import { entryPathIn, realPathIn } from '../../../tool/acl/real-path.ts';
import { refusal } from '../../../tool/acl/refusal.ts';
import { type CommandVerdict, guardCommand, guardTool, type ToolInvocation } from '../../../tool/acl.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { handEnvironment } from './hand-environment.ts';
import type { HandPlace } from './hand-place.ts';

/** A use, and what rules, scope and the form of its path say of it. */
export interface JudgedUse {
  readonly request: ToolRequest;
  readonly refusal?: Finding;
  /** Where its path leads, relative to the workspace. */
  readonly real: string;
  readonly invocation?: ToolInvocation;
  /** Of a command. */
  readonly acl?: CommandVerdict;
}

/** Tool and action of the contract's rules for each kind of use (resolutions, ACL). */
const names = {
  read: ['workspace.fs', 'read'],
  list: ['workspace.fs', 'read'],
  search: ['workspace.search', 'search'],
  write: ['workspace.fs', 'write'],
  delete: ['workspace.fs', 'delete'],
  execute: ['workspace.command', 'execute'],
} as const;

/** Rules first, then the scope; what they refuse nobody else is asked about. */
export function judgeUse(run: OpenRun, place: HandPlace, use: HandUse): JudgedUse {
  const [tool, action] = names[use.kind];
  const { runId, contract, scope } = run.identity;
  const { toolAcl } = contract.effective.security;
  const named = { runId, tool, action };
  if (use.kind === 'execute') {
    const request = { ...named, command: use.command };
    const variables = Object.keys(handEnvironment(run, place));
    const acl = guardCommand(toolAcl, use.command, { variables });
    return { request, real: '.', acl, ...(acl.refusal === undefined ? {} : { refusal: acl.refusal }) };
  }
  const request = { ...named, paths: [use.path] };
  const invocation: ToolInvocation = {
    tool,
    action,
    workspace: place.workspace,
    paths: [use.path],
    ...(use.kind === 'search' ? { text: [use.pattern] } : {}),
    ...(use.kind === 'write' ? { writeBytes: use.bytes.length } : {}),
    ...(use.kind === 'delete' ? { writeBytes: 0 } : {}),
  };
  const resolve = use.kind === 'delete' ? entryPathIn : realPathIn;
  const real = resolve(place.workspace, use.path);
  const judged = { request, invocation, real: real ?? '' };
  const why = guardTool(toolAcl, invocation) ?? placeRefusal(use, real, scope);
  return why === undefined ? judged : { ...judged, refusal: why };
}

/** Asks the rules again about how much came of it. */
export function resultRefusal(
  run: OpenRun,
  { invocation }: JudgedUse,
  { outcome, text }: HandAnswer,
): Finding | undefined {
  if (invocation === undefined || outcome !== 'done') return undefined;
  const resultBytes = Buffer.byteLength(text);
  return guardTool(run.identity.contract.effective.security.toolAcl, { ...invocation, resultBytes });
}

function placeRefusal(
  use: Exclude<HandUse, { readonly kind: 'execute' }>,
  real: string | undefined,
  scope: OpenRun['identity']['scope'],
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
  return refused(
    use.path,
    verdict === 'forbidden' ? 'is out of scope by the contract' : 'is not in the scope of the contract',
  );
}

function refused(path: string, why: string): Finding {
  return refusal(`${quoted(path)} ${why}`, { reason: 'place', path });
}
