import { quoted } from '../../../core/base/quoted.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { EffectiveToolAcl } from '../../../core/contract/intentspec.gen.ts';
import type { Constraints } from './constraints.ts';
import { allowRules, denyRules } from './matching-rules.ts';
import { areRoots, isUnder } from './path-list.ts';
import { entryPathIn, realPathIn } from './real-path.ts';
import { refusal } from './refusal.ts';

/** One call of a tool other than a command. */
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
  /** Known only afterwards: ask again before the result is handed on. */
  readonly resultBytes?: number;
}

const reading = new Set(['read', 'search', 'query', 'hover', 'goto-definition', 'find-references']);

interface Judged extends ToolInvocation {
  /** Where the paths really are; for a deletion the entry too. */
  readonly real: readonly string[];
}

/**
 * Judges one call: deny rules first, each constraint of one denies by itself; then one allow rule must hold whole. What
 * a rule cannot judge for want of a fact counts against the call. Paths are judged where their symlinks lead.
 */
export function guardTool(toolAcl: EffectiveToolAcl, invocation: ToolInvocation): Finding | undefined {
  const { tool, action, workspace, paths = [] } = invocation;
  const real: string[] = [];
  for (const path of paths) {
    const places = [
      realPathIn(workspace, path),
      ...(action === 'delete' ? [entryPathIn(workspace, path)] : []),
    ];
    for (const place of places) {
      if (place === undefined) {
        return refusal(`${quoted(path)} leads out of the workspace`, { reason: 'outside', path });
      }
      real.push(place);
    }
  }
  const call: Judged = { ...invocation, real };
  for (const { index, constraints } of denyRules(toolAcl.deny, tool, action)) {
    const why = deniedBy(constraints, call);
    if (why !== undefined) {
      return refusal(`deny rule ${index} refuses ${quoted(tool)} ${quoted(action)}: ${why}`, {
        reason: 'denied',
        denyRule: index,
      });
    }
  }
  let obstacle = 'no allow rule names that tool and action';
  for (const { index, constraints } of allowRules(toolAcl.allow, tool, action)) {
    const why = constraints
      ? obstacleIn(constraints, call)
      : 'it has a constraint that is unknown or unusable';
    if (why === undefined) return undefined;
    obstacle = `allow rule ${index} does not apply: ${why}`;
  }
  return refusal(`${quoted(tool)} ${quoted(action)} is not allowed: ${obstacle}`, { reason: 'not-allowed' });
}

function obstacleIn(constraints: Constraints, call: Judged): string | undefined {
  const { allowCommands, denySubstrings, writeRoots, denyPaths, maxWriteBytes, maxResultBytes } = constraints;
  const isWriting = !reading.has(call.action);
  if (allowCommands) return 'its `allowCommands` judge commands only';
  const substring = substringIn(denySubstrings ?? [], call);
  if (substring !== undefined) return `the arguments contain ${quoted(substring)}`;
  if (writeRoots && isWriting) {
    const isInside =
      areRoots(writeRoots) && call.real.length > 0 && call.real.every((at) => isUnder(writeRoots, at));
    if (!isInside) return 'a path is not inside `writeRoots`';
  }
  if (denyPaths && (!areRoots(denyPaths) || call.real.some((at) => isUnder(denyPaths, at)))) {
    return 'a path is inside `denyPaths`';
  }
  if (maxWriteBytes !== undefined && isWriting && exceeds(call.writeBytes, maxWriteBytes)) {
    return `it would write more than ${maxWriteBytes} bytes, or nobody knows how many`;
  }
  const cap = Math.min(
    maxResultBytes ?? Number.POSITIVE_INFINITY,
    constraints.maxOutputBytes ?? Number.POSITIVE_INFINITY,
  );
  return (call.resultBytes ?? 0) > cap ? `its result is larger than ${cap} bytes` : undefined;
}

function deniedBy(constraints: Constraints | undefined, call: Judged): string | undefined {
  if (constraints === undefined) return 'it has a constraint that is unknown or unusable';
  if (Object.keys(constraints).length === 0) return 'it denies every such call';
  const { allowCommands, denySubstrings, networkHosts, networkReason } = constraints;
  if (allowCommands || networkHosts || networkReason)
    return 'it has a constraint that cannot be judged on this tool';
  const substring = substringIn(denySubstrings ?? [], call);
  if (substring !== undefined) return `the arguments contain ${quoted(substring)}`;
  const places = [constraints.writeRoots, constraints.denyPaths].filter((list) => list !== undefined);
  for (const list of places) {
    if (!areRoots(list)) return 'it names a path outside the workspace';
    if (call.paths === undefined || call.real.some((at) => isUnder(list, at)))
      return 'a path is inside the paths it names';
  }
  const { maxWriteBytes, maxResultBytes, maxOutputBytes } = constraints;
  if (maxWriteBytes !== undefined && !reading.has(call.action) && exceeds(call.writeBytes, maxWriteBytes)) {
    return `it would write more than ${maxWriteBytes} bytes, or nobody knows how many`;
  }
  const cap = Math.min(
    maxResultBytes ?? Number.POSITIVE_INFINITY,
    maxOutputBytes ?? Number.POSITIVE_INFINITY,
  );
  return (call.resultBytes ?? 0) > cap ? `its result is larger than ${cap} bytes` : undefined;
}

function exceeds(bytes: number | undefined, max: number): boolean {
  return bytes === undefined || bytes > max;
}

function substringIn(needles: readonly string[], call: Judged): string | undefined {
  const hay = [...(call.text ?? []), ...(call.paths ?? []), ...call.real].map((text) => text.toLowerCase());
  return needles.find((needle) => hay.some((text) => text.includes(needle.toLowerCase())));
}
