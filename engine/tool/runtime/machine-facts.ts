import { open } from 'node:fs/promises';
import type { MachineFacts } from './supported-os.ts';

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

/** The two lines of os-release(5) that say which distribution this is. */
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
