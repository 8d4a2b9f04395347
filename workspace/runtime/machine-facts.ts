/* Facts about this machine. */
import { open } from 'node:fs/promises';
import { WritError } from '../../core/base/errors.ts';

const maxBytes = 64 * 1024;

/** What this machine is; on Linux the distribution is read from the first os-release file that is there. */
export async function readMachineFacts(
  platform: string = process.platform,
  files: readonly string[] = ['/etc/os-release', '/usr/lib/os-release'],
): Promise<MachineFacts> {
  if (platform !== 'linux') return { platform };
  for (const file of files) {
    const text = await readStart(file);
    if (text !== undefined) return { platform, ...parseOsRelease(text) };
  }
  return { platform };
}

/** Parses the two lines of os-release(5) that identify the distribution. */
export function parseOsRelease(text: string): Pick<MachineFacts, 'distribution' | 'release'> {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at <= 0 || line.startsWith('#')) continue;
    const raw = line.slice(at + 1).trim();
    const quoted = /^(["'])(.*)\1$/.exec(raw);
    const value = quoted?.[2] ?? raw;
    if (/^[A-Za-z0-9._~-]{1,64}$/.test(value)) values.set(line.slice(0, at).trim(), value.toLowerCase());
  }
  const [distribution, release] = [values.get('ID'), values.get('VERSION_ID')];
  return {
    ...(distribution === undefined ? {} : { distribution }),
    ...(distribution === undefined || release === undefined ? {} : { release }),
  };
}

async function readStart(file: string): Promise<string | undefined> {
  const handle = await open(file).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR' || fault.code === 'EACCES') return undefined;
    throw fault;
  });
  if (!handle) return undefined;
  try {
    const buffer = Buffer.alloc(maxBytes);
    const { bytesRead } = await handle.read(buffer, 0, maxBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Platform data of a machine. */
export interface MachineFacts {
  /** As Node calls it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** `ID` of os-release, e.g. `ubuntu`. */
  readonly distribution?: string;
  /** `VERSION_ID` of os-release, e.g. `24.04`. */
  readonly release?: string;
}

const otherNames: Readonly<Record<string, readonly string[]>> = {
  darwin: ['darwin', 'macos', 'osx'],
  win32: ['win32', 'windows'],
};

/**
 * Refuses a machine that `constraints.platform.supportedOS` does not name (OS_UNSUPPORTED); an empty list names every
 * machine. Names are the platform's, the distribution's, or the distribution's with a version, of which the first
 * numbers are enough (`ubuntu-24`). Answers what a Run's `environment` pins.
 */
export function requireSupportedOs(
  supported: readonly string[],
  facts: MachineFacts,
): Readonly<Record<string, string>> {
  if (supported.length > 0 && !supported.some((name) => isNamed(name, facts))) {
    throw new WritError('OS_UNSUPPORTED', {
      message: `expected the operating system to be ${supported.map((name) => `\`${name}\``).join(' or ')}, found \`${describe(facts)}\``,
      detail: { expected: [...supported], found: describe(facts), platform: facts.platform },
    });
  }
  return {
    os: facts.platform,
    ...(facts.distribution === undefined ? {} : { distribution: distributionOf(facts) }),
  };
}

function isNamed(name: string, facts: MachineFacts): boolean {
  const wanted = name.trim().toLowerCase();
  const platform = facts.platform.toLowerCase();
  if ((otherNames[platform] ?? [platform]).includes(wanted)) return true;
  const distribution = facts.distribution?.toLowerCase();
  if (distribution === undefined) return false;
  if (wanted === distribution) return true;
  if (!wanted.startsWith(distribution) || !/^[-: @]/.test(wanted.slice(distribution.length))) return false;
  const version = wanted.slice(distribution.length + 1);
  const release = facts.release?.toLowerCase() ?? '';
  return version !== '' && (release === version || release.startsWith(`${version}.`));
}

function describe(facts: MachineFacts): string {
  return facts.distribution === undefined ? facts.platform : `${facts.platform} (${distributionOf(facts)})`;
}

function distributionOf({ distribution = '', release }: MachineFacts): string {
  return release === undefined ? distribution : `${distribution}-${release}`;
}
