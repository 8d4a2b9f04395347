/* Authorizes a tool call under the tool rules. */
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveToolAcl } from '../../core/interfaces/intentspec.gen.ts';
import { codeActions } from '../../core/interfaces/worker.ts';
import { entryPathIn, realPathIn } from './command-paths.ts';
import { allowRules, areRoots, type Constraints, denyRules, isUnder, refusal } from './constraints.ts';

/** One call of a tool that is not a command. */
export interface ToolInvocation {
  readonly tool: string;
  readonly action: string;
  /** Absolute; paths outside it are refused. */
  readonly workspace: string;
  /** Relative to the workspace, or absolute. */
  readonly paths?: readonly string[];
  /** Every string among the arguments. */
  readonly text?: readonly string[];
  readonly writeBytes?: number;
}

export interface ToolVerdict {
  readonly refusal?: Finding;
  /**
   * Maximum result size in bytes: the largest cap of the matching allow rules, reduced to the smallest cap of the
   * deny rules.
   */
  readonly maxResultBytes?: number;
}

const reading = new Set<string>(['read', 'search', 'query', ...codeActions]);

/** A call with resolved paths: the real paths, and for a deletion also the path of the entry itself. */
type Judged = Pick<ToolInvocation, 'paths' | 'text' | 'writeBytes'> & { readonly real: readonly string[] };

/**
 * Authorizes one call. Deny rules are evaluated first, and each constraint of a deny rule denies by itself. Then one
 * allow rule must hold with all its constraints. If a fact that a rule needs is missing, the call is denied. Paths
 * are checked after symlink resolution.
 */
export function guardTool(toolAcl: EffectiveToolAcl, invocation: ToolInvocation): ToolVerdict {
  const { tool, action, workspace, paths = [] } = invocation;
  const real: string[] = [];
  for (const path of paths) {
    const places = [
      realPathIn(workspace, path),
      ...(action === 'delete' ? [entryPathIn(workspace, path)] : []),
    ];
    for (const place of places) {
      if (place === undefined) {
        return {
          refusal: refusal(`${quoted(path)} leads out of the workspace`, { reason: 'outside', path }),
        };
      }
      real.push(place);
    }
  }
  return judgeCalls(toolAcl, tool, action)({ ...invocation, real });
}

/**
 * Returns a predicate for the directory entries that a tool and action may show. It is built once for many entries.
 * It receives real paths, and entries behind a symlink are omitted. If the ACL has rules for reading files, they must
 * allow the file too.
 */
export function shownPaths(
  toolAcl: EffectiveToolAcl,
  tool: string,
  action: string,
): (real: string) => boolean {
  const asks = [judgeCalls(toolAcl, tool, action)];
  const [fs, read] = ['workspace.fs', 'read'];
  const speaksOfReading =
    denyRules(toolAcl.deny, fs, read).length + allowRules(toolAcl.allow, fs, read).length > 0;
  if (speaksOfReading && tool !== fs) asks.push(judgeCalls(toolAcl, fs, read));
  return (real) => asks.every((ask) => ask({ paths: [real], real: [real] }).refusal === undefined);
}

interface Kind {
  readonly isWriting: boolean;
  /** False for tools that only see the workspace: `networkHosts` of a rule has no effect on them. */
  readonly reachesHosts: boolean;
}

/** The rules that name a tool and an action, read once. */
function judgeCalls(toolAcl: EffectiveToolAcl, tool: string, action: string): (call: Judged) => ToolVerdict {
  const denying = denyRules(toolAcl.deny, tool, action);
  const allowing = allowRules(toolAcl.allow, tool, action);
  const kind = { isWriting: !reading.has(action), reachesHosts: !/^(?:workspace\.|vcs$)/.test(tool) };
  return (call) => {
    for (const { index, constraints } of denying) {
      const why = deniedBy(constraints, call, kind);
      if (why !== undefined) {
        const message = `deny rule ${index} refuses ${quoted(tool)} ${quoted(action)}: ${why}`;
        return { refusal: refusal(message, { reason: 'denied', denyRule: index }) };
      }
    }
    let obstacle = 'no allow rule names that tool and action';
    let most: number | undefined;
    for (const { index, constraints } of allowing) {
      const why = constraints
        ? obstacleIn(constraints, call, kind)
        : 'it has a constraint that is unknown or unusable';
      if (why !== undefined) obstacle = `allow rule ${index} does not apply: ${why}`;
      else most = Math.max(most ?? 0, resultCap(constraints));
    }
    if (most === undefined) {
      const message = `${quoted(tool)} ${quoted(action)} is not allowed: ${obstacle}`;
      return { refusal: refusal(message, { reason: 'not-allowed' }) };
    }
    const cap = Math.min(most, ...denying.map(({ constraints }) => resultCap(constraints)));
    return Number.isFinite(cap) ? { maxResultBytes: cap } : {};
  };
}

/** Returns infinity if there is no cap. */
function resultCap({ maxResultBytes, maxOutputBytes }: Constraints = {}): number {
  return Math.min(maxResultBytes ?? Number.POSITIVE_INFINITY, maxOutputBytes ?? Number.POSITIVE_INFINITY);
}

function obstacleIn(
  constraints: Constraints,
  call: Judged,
  { isWriting, reachesHosts }: Kind,
): string | undefined {
  const { allowCommands, networkHosts, denySubstrings, writeRoots, denyPaths, maxWriteBytes } = constraints;
  if (allowCommands) return 'its `allowCommands` apply to commands only';
  if (networkHosts && !reachesHosts) return 'its `networkHosts` open hosts to commands only';
  const substring = substringIn(denySubstrings ?? [], call);
  if (substring !== undefined) return `the arguments contain ${quoted(substring)}`;
  if (writeRoots && isWriting) {
    const isInside =
      areRoots(writeRoots) && call.real.length > 0 && call.real.every((at) => isUnder(writeRoots, at));
    if (!isInside) {
      const roots = writeRoots.slice(0, 5).map(quoted).join(', ');
      return `a path is not inside \`writeRoots\`; expected one below ${roots}`;
    }
  }
  if (denyPaths && (!areRoots(denyPaths) || call.real.some((at) => isUnder(denyPaths, at)))) {
    return 'a path is inside `denyPaths`';
  }
  return isWriting ? oversize(call, maxWriteBytes) : undefined;
}

function deniedBy(
  constraints: Constraints | undefined,
  call: Judged,
  { isWriting }: Kind,
): string | undefined {
  if (constraints === undefined) return 'it has a constraint that is unknown or unusable';
  if (Object.keys(constraints).length === 0) return 'it denies every such call';
  const { allowCommands, denySubstrings, networkHosts, networkReason, maxWriteBytes } = constraints;
  if (allowCommands || networkHosts || networkReason)
    return 'it has a constraint that cannot be checked on this tool';
  const substring = substringIn(denySubstrings ?? [], call);
  if (substring !== undefined) return `the arguments contain ${quoted(substring)}`;
  const places = [constraints.writeRoots, constraints.denyPaths].filter((list) => list !== undefined);
  for (const list of places) {
    if (!areRoots(list)) return 'it names a path outside the workspace';
    if (call.paths === undefined || call.real.some((at) => isUnder(list, at)))
      return 'a path is inside the paths it names';
  }
  return isWriting ? oversize(call, maxWriteBytes) : undefined;
}

/** An unknown size counts as too large. */
function oversize({ writeBytes }: Judged, max: number | undefined): string | undefined {
  return max === undefined || (writeBytes !== undefined && writeBytes <= max)
    ? undefined
    : `it would write more than ${max} bytes, or of unknown size`;
}

function substringIn(needles: readonly string[], call: Judged): string | undefined {
  if (needles.length === 0) return undefined;
  const hay = [...(call.text ?? []), ...(call.paths ?? []), ...call.real].map((text) => text.toLowerCase());
  return needles.find((needle) => hay.some((text) => text.includes(needle.toLowerCase())));
}
