/* Keeps the answer that a sandbox works, so that most runs do not probe it again. */
import { lstatSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { makeDirectories, readGuarded } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { findProgram } from '../../workspace/process/find-program.ts';
import type { HostFacts } from './host-view.ts';

/** A back end as its probe knows it. */
interface ProbedForm {
  readonly name: string;
  readonly facts: HostFacts;
  /** Everything that the probe runs: words of the sandbox, launcher, attempts, paths it looks at. */
  readonly words: readonly string[];
}

const maxAgeMs = 3_600_000;
const programs = ['bwrap', 'unshare', 'setpriv', 'mount', 'sh', 'bash'];
const namespaces = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];
const kernel = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/kernel/osrelease',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined',
  '/proc/sys/kernel/yama/ptrace_scope',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/user/max_mnt_namespaces',
  '/proc/sys/user/max_net_namespaces',
  '/proc/sys/user/max_pid_namespaces',
  '/proc/self/attr/current',
  '/proc/self/uid_map',
  '/proc/self/mountinfo',
];
const ownStatus = /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp):.*$/gm;

/**
 * True if this very sandbox passed its probe on this boot less than an hour ago
 * (`docs/decisions/0027-kept-probe.md`). Anything unexpected means no.
 */
export async function hasPassed(form: ProbedForm): Promise<boolean> {
  try {
    const { directory, file } = placeOf(form);
    if (!isOursAlone(directory)) return false;
    const [, at = '', digest = ''] =
      /^(\d{13}) ([0-9a-f]{64})\n$/.exec((await readGuarded(file, true)) ?? '') ?? [];
    const ageMs = systemClock.now() - Number(at);
    return ageMs >= 0 && ageMs < maxAgeMs && digest === digestOf(form);
  } catch {
    return false;
  }
}

/** Records a passed probe. If that fails, the next process probes again. */
export async function keepPassed(form: ProbedForm): Promise<void> {
  const { root, directory, file } = placeOf(form);
  const draft = `${file}-${randomOctets(6).toString('hex')}`;
  try {
    await makeDirectories({ root, parts: ['writ', 'probes'] });
    if (!isOursAlone(directory)) return;
    writeFileSync(draft, `${systemClock.now()} ${digestOf(form)}\n`, { flag: 'wx', mode: 0o600 });
    try {
      renameSync(draft, file);
    } catch {
      rmSync(draft);
    }
  } catch {
    // A full or foreign cache costs the next process its time.
  }
}

/** Passes a result on. A back end that could not set its sandbox up is probed again by the next process. */
export async function disprovable<T>(
  form: Pick<ProbedForm, 'name' | 'facts'>,
  result: Promise<T>,
): Promise<T> {
  try {
    return await result;
  } catch (fault) {
    if (isWritError(fault, 'SANDBOX_FAILED')) forgetPassed(form);
    throw fault;
  }
}

/** Removes the kept answer of a back end: what broke is not always in the digest. */
export function forgetPassed(form: Pick<ProbedForm, 'name' | 'facts'>): void {
  try {
    const { directory, file } = placeOf(form);
    if (isOursAlone(directory)) rmSync(file, { force: true });
  } catch {
    // Nothing was kept, or in a directory that is not believed either.
  }
}

/** One file for each back end: there is nothing to clean up. */
function placeOf({
  name,
  facts,
}: Pick<ProbedForm, 'name' | 'facts'>): Readonly<Record<'root' | 'directory' | 'file', string>> {
  const { XDG_CACHE_HOME: xdg = '' } = process.env;
  const root = path.isAbsolute(xdg) ? xdg : path.join(facts.home, '.cache');
  const directory = path.join(root, 'writ', 'probes');
  return { root, directory, file: path.join(directory, name) };
}

function isOursAlone(directory: string): boolean {
  const found = lstatSync(directory);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}

/** Of all that the answer may depend on: another program, kernel setting, namespace, privilege or profile. */
function digestOf({ name, facts, words }: ProbedForm): string {
  const files = [facts.execPath, ...programs.map((program) => findProgram(program, facts.path) ?? program)];
  return sha256Hex(
    canonicalize({
      name,
      facts: { ...facts },
      words,
      files: files.map((file) => {
        const found = statSync(file, { bigint: true, throwIfNoEntry: false });
        if (found === undefined) return [file];
        const { dev, ino, mode, uid, size, mtimeNs, ctimeNs } = found;
        return [file, ...[dev, ino, mode, uid, size, mtimeNs, ctimeNs].map(String)];
      }),
      namespaces: namespaces.map((one) => readlinkSync(`/proc/self/ns/${one}`)),
      kernel: kernel.map(textOf),
      status: textOf('/proc/self/status').match(ownStatus) ?? [],
    }),
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
