import { readNetworkHost } from '../../spec/network-host.ts';
import { isToolConstraintKey } from '../../spec/tool-constraint-keys.ts';
import { type CommandEntry, readEntry } from './command-entry.ts';

/** The constraints of one ToolRule, each with a usable value. An absent key does not constrain. */
export interface Constraints {
  readonly writeRoots?: readonly string[];
  readonly denyPaths?: readonly string[];
  readonly allowCommands?: readonly CommandEntry[];
  readonly denySubstrings?: readonly string[];
  readonly maxOutputBytes?: number;
  readonly maxWriteBytes?: number;
  readonly maxResultBytes?: number;
  readonly networkReason?: string;
  readonly networkHosts?: readonly string[];
}

const lists = ['writeRoots', 'denyPaths', 'allowCommands', 'denySubstrings', 'networkHosts'] as const;
const byteCounts = ['maxOutputBytes', 'maxWriteBytes', 'maxResultBytes'] as const;

/**
 * The constraints of a rule; `undefined` where a key is unknown or a value unusable, and then an allow rule allows
 * nothing and a deny rule denies everything it names. Hosts and a stated reason stand together.
 */
export function readConstraints(given: Readonly<Record<string, unknown>>): Constraints | undefined {
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!isToolConstraintKey(key) || !isUsable(key, value)) return undefined;
    read[key] = value;
  }
  if (isTextList(read.allowCommands)) read.allowCommands = read.allowCommands.map(readEntry);
  const constraints: Constraints = read;
  return (constraints.networkHosts === undefined) === (constraints.networkReason === undefined)
    ? constraints
    : undefined;
}

function isUsable(key: string, value: unknown): boolean {
  if (isOneOf(lists, key)) {
    return (
      isTextList(value) &&
      (key !== 'networkHosts' || value.every((host) => readNetworkHost(host) !== undefined))
    );
  }
  if (isOneOf(byteCounts, key)) return Number.isSafeInteger(value) && Number(value) >= 0;
  return typeof value === 'string' && value.trim() !== '';
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '');
}

function isOneOf(keys: readonly string[], key: string): boolean {
  return keys.includes(key);
}
