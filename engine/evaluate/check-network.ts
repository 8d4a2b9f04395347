import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { NetworkUse } from '../../core/interfaces/scanner.ts';

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
