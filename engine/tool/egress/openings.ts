import type { NetworkObstacle } from '../../../core/contract/network-use.ts';
import { readNetworkHost } from '../../spec/network-host.ts';
import type { Target } from './target.ts';

/** What one tool rule opens. */
export interface Opening {
  /** Entries of `networkHosts`. */
  readonly hosts: readonly string[];
  readonly reason: string;
}

/** What a check may reach. */
export interface EgressPolicy {
  /** `networkPolicy: allow`: every public host. */
  readonly all: boolean;
  /**
   * For each simple command of the check what its rules open. One network serves all commands, so a host is open only
   * where a rule of every one of them opens it.
   */
  readonly openings: readonly (readonly Opening[])[];
}

type OpeningVerdict =
  | { readonly open: true; readonly reasons: readonly string[] }
  | { readonly open: false; readonly why: NetworkObstacle };

const usualPorts = [80, 443];

/** Whether a host and port are open to a check, and for which stated reasons. Pure. */
export function judgeTarget(policy: EgressPolicy, target: Target): OpeningVerdict {
  const perCommand = policy.openings.map((openings) =>
    openings.filter(({ hosts }) => hosts.some((entry) => entryOpens(entry, target))),
  );
  if (perCommand.length > 0 && perCommand.every((openings) => openings.length > 0))
    return { open: true, reasons: [...new Set(perCommand.flat().map(({ reason }) => reason))] };
  if (policy.all) {
    return usualPorts.includes(target.port)
      ? { open: true, reasons: ['networkPolicy: allow'] }
      : { open: false, why: 'port' };
  }
  const isListed =
    policy.openings.length > 0 &&
    policy.openings.every((openings) =>
      openings.some(({ hosts }) => hosts.some((entry) => entryNames(entry, target))),
    );
  return { open: false, why: isListed ? 'port' : 'not-listed' };
}

function entryOpens(entry: string, target: Target): boolean {
  const port = readNetworkHost(entry)?.port;
  return (
    entryNames(entry, target) &&
    (port === undefined ? usualPorts.includes(target.port) : port === target.port)
  );
}

function entryNames(entry: string, { host, kind }: Target): boolean {
  const pattern = readNetworkHost(entry)?.pattern;
  if (pattern === undefined) return false;
  return pattern.startsWith('*.') ? kind === 'name' && host.endsWith(pattern.slice(1)) : host === pattern;
}
