import { homedir } from 'node:os';
import { join } from 'node:path';

/** The version that the tests run against. */
export const codexVersion = '0.169.0';

/** Where the program of this platform is kept, and what npm has to deliver for it. */
export interface CodexPlace {
  readonly directory: string;
  readonly program: string;
  /** For `npm pack`. */
  readonly spec: string;
  /** SHA-512 of the package, in base64. */
  readonly sha512: string;
}

const platforms: Readonly<Record<string, readonly [target: string, sha512: string]>> = {
  'linux-x64': [
    'x86_64-unknown-linux-musl',
    'o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==',
  ],
  'linux-arm64': [
    'aarch64-unknown-linux-musl',
    'NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==',
  ],
};

/** `undefined` on a platform that the tests do not know a package for. */
export function codexPlace(): CodexPlace | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const known = platforms[platform];
  if (known === undefined) return undefined;
  const [target, sha512] = known;
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const directory = join(cache, 'writ', `codex-${codexVersion}`);
  return {
    directory,
    program: join(directory, 'package', 'vendor', target, 'bin', 'codex'),
    spec: `@openai/codex@${codexVersion}-${platform}`,
    sha512,
  };
}
