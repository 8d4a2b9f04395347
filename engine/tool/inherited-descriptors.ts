import { readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/**
 * Descriptors above 2 that whoever started us left open and that every child would inherit (Linux; elsewhere none).
 * Our own are opened close-on-exec.
 */
export function inheritedDescriptors(): number[] {
  let entries: string[];
  try {
    entries = readdirSync('/proc/self/fdinfo');
  } catch {
    return [];
  }
  return entries.map(Number).filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
