import { judgeTarget, readTarget } from '../../workspace/egress/openings.ts';

/** Whether the address of a service lies at a host and port that these entries open, as the egress proxy judges it. */
export function opensHost(hosts: readonly string[], address: string): boolean {
  const url = new URL(address);
  const target = readTarget(url.host, url.protocol === 'https:' ? 443 : 80);
  return (
    target !== undefined && judgeTarget({ all: false, openings: [[{ hosts, reason: '' }]] }, target).open
  );
}
