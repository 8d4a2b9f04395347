import { isIP } from 'node:net';
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { SandboxRequest } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork, NetworkUse } from '../../core/interfaces/scanner.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { CommandVerdict } from '../../workspace/command-acl/guard-command.ts';
import { openEgress } from '../../workspace/egress/open-egress.ts';
import type { OpenRun, Workspace } from '../state/open-run.ts';

/** What a command gets of the network while it runs. */
export interface OpenNetwork {
  readonly network: SandboxRequest['network'];
  /** Closes it; what was open and what came of it, where anything was. */
  close(): Promise<CheckNetwork | undefined>;
}

/**
 * Opens the network that the spec allows for one command. `networkPolicy: allow` opens every public host; otherwise
 * the hosts of the matching tool rules are open, or none. A scanner gets no network. Without a sandbox the command
 * uses this machine's network, which cannot be recorded.
 */
export async function openNetwork(
  { identity: { contract }, services: { privateRoot, settings } }: Pick<OpenRun, 'identity' | 'services'>,
  { sandbox }: Pick<Workspace, 'sandbox'>,
  { openings = [], isShut = false }: Pick<CommandVerdict, 'openings'> & { readonly isShut?: boolean },
  /** Waited for before anything leaves the machine; without a sandbox, before the command. */
  leaving?: () => Promise<void>,
): Promise<OpenNetwork> {
  if (sandbox.unconfined) {
    await leaving?.();
    return { network: 'host', close: async () => undefined };
  }
  const all = !isShut && contract.effective.constraints.security.networkPolicy === 'allow';
  if (!all && openings.length === 0) return { network: 'none', close: async () => undefined };
  const egress = await openEgress(privateRoot, {
    policy: { all, openings },
    leaving,
    ...(settings.outside === undefined ? {} : { outside: settings.outside }),
  });
  const opened = [
    ...(all ? [{ hosts: ['*'], reason: 'networkPolicy: allow' }] : []),
    ...new Map(openings.flat().map((one) => [JSON.stringify(one), one])).values(),
  ];
  return { network: egress.network, close: async () => ({ opened, uses: await egress.close() }) };
}

/** Names of hosts are the check's own words, and a way to print a secret; an address is a fact about a machine. */
export function redactHosts(
  network: CheckNetwork | undefined,
  policy: Parameters<typeof redactTexts>[1],
): CheckNetwork | undefined {
  if (network === undefined) return undefined;
  const uses = network.uses.map((use) => ({
    ...use,
    host: isIP(use.host) === 0 ? redactTexts(use.host, policy) : use.host,
  }));
  return { ...network, uses };
}

const maxFindings = 20;

/** A warning for each host that was refused to a check. Pure. */
export function networkFindings(uses: readonly NetworkUse[]): readonly Finding[] {
  const refused = uses.filter(({ outcome }) => outcome === 'refused');
  const findings = refused.slice(0, maxFindings).map((use): Finding => {
    const { host, port, why, address, connections, via } = use;
    const at = host === '' ? 'a host that it did not name' : quoted(port === 0 ? host : `${host}:${port}`);
    return {
      rule: 'network',
      severity: 'warning',
      message: `the check was refused ${at}: ${obstacles[why ?? 'not-listed']}`,
      detail: { host, port, via, why, connections, ...(address === undefined ? {} : { address }) },
    };
  });
  const left = refused.length - findings.length;
  return left <= 0
    ? findings
    : [
        ...findings,
        {
          rule: 'network',
          severity: 'warning',
          message: `the check was refused ${left} further hosts; the record lists them`,
          detail: { hosts: left },
        },
      ];
}

/** Reported for every command that ran without a sandbox: its network was neither restricted nor observed. */
export const unguardedNetwork: Finding = {
  rule: 'network',
  severity: 'note',
  message:
    'the check had the whole network of this machine: without a sandbox nothing is refused or recorded',
  detail: { why: 'no-sandbox' },
};

const obstacles: Readonly<Record<NonNullable<NetworkUse['why']>, string>> = {
  malformed: 'the request names no host in a form that can be authorized',
  'not-listed': 'no rule that matches its commands opens that host',
  port: 'only ports 80 and 443 are open, and those that an entry of `networkHosts` names',
  address: 'it has an address that is not public',
  'host-header': 'the `Host` of the request names another host',
  'not-tls': 'a tunnel carries TLS only',
  'no-server-name': 'the TLS connection does not name its host (SNI)',
  'encrypted-hello': 'the TLS connection hides its host (ECH)',
  'server-name': 'the TLS connection is for another host',
  limit: 'it made too many connections or moved too many bytes',
  unresolved: 'it has no address',
  unreachable: 'there is no answer from there',
  time: 'it took too long',
};
