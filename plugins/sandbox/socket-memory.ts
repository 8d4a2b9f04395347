import { readFileSync } from 'node:fs';

/** Sockets that nobody is asked about: programs of a test suite talk to each other by some hundreds. */
const unasked = 512;
/**
 * What one may hold where its owner asked for the most: twice `wmem_max` (socket(7)). The kernel tells of no UNIX
 * socket what waits in it.
 */
const defaultMost = 212_992;

/**
 * Bytes that wait in the sockets of a network namespace (`net`: the directory of that name in `/proc`), also in those
 * that were closed while a message holds them. TCP and UDP tell; of all others beyond the first 512 each counts as
 * full.
 */
export function socketBytes(net: string): number {
  const counts = read(`${net}/sockstat`);
  const count = (pattern: RegExp): number => Number(pattern.exec(counts)?.[1] ?? 0);
  const counted = count(/^TCP: .* alloc (\d+) /m) + count(/^UDP: inuse (\d+)/m);
  const others = count(/^sockets: used (\d+)$/m) - counted;
  const each = 2 * (Number(read('/proc/sys/net/core/wmem_max')) || defaultMost);
  let bytes = Math.max(0, others - unasked) * each;
  // Their queues lie in files of a line for each socket: not read where there are none.
  if (counted > 0) for (const kind of ['tcp', 'tcp6', 'udp', 'udp6']) bytes += queued(read(`${net}/${kind}`));
  return bytes;
}

function queued(table: string): number {
  let bytes = 0;
  for (const [, sent = '', received = ''] of table.matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) /g))
    bytes += Number.parseInt(sent, 16) + Number.parseInt(received, 16);
  return bytes;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // Ended while we looked, or a kernel without it.
  }
}
