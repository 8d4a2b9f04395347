import { mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Calls that no namespace confines: the session keyring of the person (Kerberos tickets, disk keys) is inherited by every
 * process, whatever its mounts. With them, calls that need privilege anyway and have been ways to get it.
 */
const refused: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
};
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 };
const x32Bit = 0x40000000;
const [loadWord, jumpIfEqual, jumpIfAtLeast, give] = [0x20, 0x15, 0x35, 0x06];
const [allow, notPermitted, noSuchCall] = [0x7fff0000, 0x00050001, 0x00050026];

/**
 * A classic BPF program (seccomp(2)) that refuses those calls with EPERM, and every call of another architecture's table
 * with ENOSYS. `undefined` where the call numbers are not known to us.
 */
export function syscallFilter(architecture: string): Buffer | undefined {
  if ((architecture !== 'x64' && architecture !== 'arm64') || endianness() !== 'LE') return undefined;
  const numbers = Object.values(refused).map(([x64, arm64]) => (architecture === 'x64' ? x64 : arm64));
  const program = Buffer.alloc((numbers.length + 7) * 8);
  let at = 0;
  const add = (code: number, k: number, ifTrue = 0, ifFalse = 0): void => {
    program.writeUInt16LE(code, at);
    program.writeUInt8(ifTrue, at + 2);
    program.writeUInt8(ifFalse, at + 3);
    program.writeUInt32LE(k, at + 4);
    at += 8;
  };
  const count = numbers.length;
  add(loadWord, 4);
  add(jumpIfEqual, auditArchitecture[architecture], 0, count + 4);
  add(loadWord, 0);
  add(jumpIfAtLeast, x32Bit, count + 2, 0);
  for (const [index, number] of numbers.entries()) add(jumpIfEqual, number, count - index, 0);
  add(give, allow);
  add(give, notPermitted);
  add(give, noSuchCall);
  return program;
}

let held: number | undefined;

/** A descriptor from which the filter for this machine can be read once; the caller closes it. `undefined`: there is none. */
export function openSyscallFilter(): number | undefined {
  const program = syscallFilter(process.arch);
  if (program === undefined) return undefined;
  if (held === undefined) {
    const directory = mkdtempSync(path.join(realpathSync(tmpdir()), 'writ-filter-'));
    try {
      writeFileSync(path.join(directory, 'filter'), program, { mode: 0o600 });
      held = openSync(path.join(directory, 'filter'), 'r');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  // Opened anew: a shared position would be at the end after the first reader.
  return openSync(`/proc/self/fd/${held}`, 'r');
}
