import { judgeTarget, readTarget } from '../../workspace/egress/openings.ts';

/** Returns whether these entries open the host and port of a service's address, by the egress proxy's rules. */
export function opensHost(hosts: readonly string[], address: string): boolean {
  const url = new URL(address);
  const target = readTarget(url.host, url.protocol === 'https:' ? 443 : 80);
  return (
    target !== undefined && judgeTarget({ all: false, openings: [[{ hosts, reason: '' }]] }, target).open
  );
}
