import { existsSync } from 'node:fs';

/** Kernel settings: to the kernel its root is root in every namespace, and writing `core_pattern` would run code on the host. */
const settings = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/acpi',
  '/proc/scsi',
];
/** Kernel state that its owner, root, may read although it is not for a check. */
const state = ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/latency_stats'];

/** What of `/proc` a sandbox shows read-only, and what it covers with `/dev/null`. More where the caller is root. */
export function procMasks(): { readonly readOnly: readonly string[]; readonly covered: readonly string[] } {
  if (process.getuid?.() !== 0) return { readOnly: ['/proc/sys'], covered: [] };
  return {
    readOnly: settings.filter((file) => existsSync(file)),
    covered: state.filter((file) => existsSync(file)),
  };
}
